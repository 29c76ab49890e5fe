// Package sourcetest is the conformance suite of serve.Source: what the server, and its clients behind
// it, rely on whatever the market.
//
// Takes: a way to make a market, and to let time pass in it.
// Gives: Run, a test with a subtest for each promise.
// Keeps: it knows a market by serve.Source alone, and needs at least one page of deals in every feed.
// Fails: as a test, with the feed and the deal.
// May change here: more promises.
package sourcetest
