// Package serve is the Deal-Flow Data API v3.4.0, served over HTTP from any Source.
//
// Takes: a Source (a market that can list its deals and return one by id) and a Config.
// Gives: an http.Handler with all endpoints of the API (routes.go), Serve, which runs it on a listener until its
// context ends, and the form of the accounts file.
// Keeps: all answers follow the clock of the Source, including the Date header, the expiry of tokens and the timestamps
// of errors. A walk over a list that changes during the walk never fails, and shows each unchanged deal exactly once.
// Deals are sent byte for byte as the Source returns them, except that their hrefs get the base URL. A server keeps
// only rates, counts and verified secrets between requests, so several servers with the same keys and accounts can
// share the work. Secrets and tokens are in no log. docs/reference/api-choices.md says what the server does where the API
// is not specified.
// Fails: every error answer is the API's error body, with a status from one table (errors.go).
// May change here: accounts, limits, and endpoints that are not the API's own.
package serve
