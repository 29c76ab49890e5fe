// Package lakesource is the lake as a market: what was pulled from the API, served as the API, as it
// is known now or as it was known at any instant.
//
// Takes: a way to open the catalog of the lake's newest commit.
// Gives: a Source, which is a serve.TimeTraveler; its pasts stand still.
// Keeps: what a state shows never changes, so a walk that carries its state sees one commit from the
// first page to the last, however the lake grows meanwhile. Payloads are served byte for byte as they
// came, but for links: those under the API that they came from are written under this one, and a
// record's updatedSince link tells knowledge time. Memory is bounded: a few bytes a deal for the newest
// states, payloads for a page only.
// Fails: serve.ErrNotFound for a deal that did not stand; otherwise errors of the lake, with the feed.
// May change here: how an index is kept, and how many.
package lakesource
