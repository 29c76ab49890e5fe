// Package extract reads deals from the Deal-Flow Data API. It gets the OAuth token, follows the HAL pages of a feed,
// paces and retries requests, proves a snapshot complete although the list changes during the walk, and confirms by id
// the deals that a list no longer shows.
//
// Takes: a Config (address, credentials, limits) and, per feed, a Spool for the payloads.
// Gives: a Snapshot (counts, and the updatedSince link to keep) of a complete feed or of the changes since such a
// link; the spooled payloads with their hashes and instants of observation; the records that cannot be read; and,
// for absent deals, the API's answer by id.
// Keeps: the token is sent to the base's origin and nowhere else. A snapshot is returned only after it is proved
// complete (docs/explanation/extraction.md has the argument). A later payload of a deal replaces the earlier one if its content
// differs. Every wait ends with the context, is counted and is reported. Memory grows with the number of deals,
// not with their size.
// Fails: *AuthError (credentials refused), *StatusError (a status that a retry does not cure, with the API's
// errorId), *LinkError (a link out of the API), *UnsettledError (a list that changes faster than it can be read),
// a context error if a wait would pass the deadline. Each error names the feed, page and URL.
// May change here: pacing, the policies for retries and sweeps, further ways to read changes. Other packages decide
// what is a removal or a new version.
package extract
