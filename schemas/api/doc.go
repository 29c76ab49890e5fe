// Package api contains the types of the Deal-Flow Data API v3.4.0, shared by the client (extract), the
// server (serve) and the tests of both.
//
// Takes: nothing; it contains types, constants and pure functions over bytes.
// Gives: the twelve feeds, HAL links, the error body, list pages split into records, and the Go
// records that a server writes.
// Keeps: no I/O, no clock, no import of another package of this program. openapi.yaml describes the API;
// JSON names here are the names in its requests and responses.
// Fails: parsing functions return errors that name the offending text; they never panic.
// May change here: fields, feeds and error codes of a new version of the API, with openapi.yaml.
package api
