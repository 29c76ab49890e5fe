// Package lakesource makes a lake a market that package serve can serve, as it is known now or as it was known at any
// instant.
//
// Takes: a way to open the catalog of the lake's newest commit.
// Gives: a Source, which is a serve.TimeTraveler. What AsOf returns never changes.
// Keeps: a state never changes, so a walk that carries its state sees one commit from the first page to the last, even
// if runs add commits during the walk. Payloads are served byte for byte as they were received, except links: hrefs
// under the API that a payload came from are written under this one, and a record's updatedSince link has the known_at
// of its version. Memory is bounded: about 40 bytes per deal in each of the last used indexes, and the payloads of one
// page.
// Fails: serve.ErrNotFound for a deal that was not current in the state; otherwise errors of the lake, with the feed.
// May change here: how indexes are stored, and how many.
package lakesource
