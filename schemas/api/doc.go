// Package api is how the market speaks: the nouns of the Deal-Flow Data API v3.4.0, shared by the
// client (extract), the server (serve) and the tests of both.
//
// Takes: nothing; it holds types, constants and pure functions over bytes.
// Gives: the twelve feeds, HAL links, the error body, list pages split into records, and the Go
// records that a server writes.
// Keeps: no I/O, no clock, imports nothing of ours. The API document is the authority; a name here
// is the name on the wire.
// Fails: parsing functions return errors that name the offending text; they never panic.
// May change here: a new version of the API document (fields, feeds, error codes).
package api
