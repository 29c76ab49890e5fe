// Package extract pulls deals out of the Deal-Flow Data API: it gets the OAuth token, walks the HAL
// pages of a feed, paces and repeats requests, proves a snapshot complete while the list moves under
// it, and asks by id for deals that a list no longer shows.
//
// Takes: a Config (address, credentials, limits) and, per feed, a Spool to put payloads into.
// Gives: a Snapshot (counts, the updatedSince link to keep) of the whole feed or of what changed since such a
// link, the spooled payloads with their hashes and instants of observation, the records that cannot be
// read, and the fate of absent deals.
// Keeps: the token goes to the base's origin and nowhere else; a snapshot is returned only once it is proved
// complete (docs/explanation/extraction.md has the argument); a later payload of a deal replaces the earlier where it
// says something else; every wait is bounded by the context, counted and shown; memory grows with the
// number of deals, not with their size.
// Fails: *AuthError (credentials refused), *StatusError (an answer that no repetition cures, with the API's errorId),
// *LinkError (a link that leaves the API), *UnsettledError (a list that moves faster than it can be
// read), a context error where a wait would pass the deadline. Each names the feed, page and URL.
// May change here: pacing, retry and sweep policy, further ways to read what changed. What counts as a
// removal or a new version is decided elsewhere.
package extract
