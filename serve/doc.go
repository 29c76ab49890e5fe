// Package serve is the Deal-Flow Data API v3.4.0, served over HTTP from any Source.
//
// Takes: a Source (a market that can list its deals and give one by id) and a Config.
// Gives: an http.Handler with the API's whole surface (routes.go), Serve, which runs it on a listener
// until its context ends, and the form of the accounts file.
// Keeps: all answers follow the clock of the Source, the Date header, token expiry and error
// timestamps included; a walk over a list that changes meanwhile never fails, and shows each deal
// that does not change exactly once; deals go out byte for byte as the Source gives them, but for
// the base URL put before their hrefs; nothing is remembered between requests but rates, counts and
// verified secrets, so servers with the same keys and accounts can stand side by side; secrets and
// tokens are in no log. docs/reference/api-choices.md says what is done where the API document is silent.
// Fails: every error answer is the API's error body, with a status from one table (errors.go).
// May change here: accounts, limits, what is served beside the document.
package serve
