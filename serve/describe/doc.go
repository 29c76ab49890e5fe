// Package describe shows the description of the API, openapi.yaml with its examples, for machines and for people.
//
// Takes: a server's base URL. Gives: the description as JSON, and as a page. It keeps nothing but the parsed files.
package describe
