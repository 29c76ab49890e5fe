// Package sourcetest tests what the server and its clients need of every serve.Source.
//
// Takes: a function that makes a market, and one that lets time pass in it.
// Gives: Run, a test with a subtest for each promise.
// Keeps: it uses a market only through serve.Source. It needs at least 15 deals in every feed.
// Fails: through testing.T, with the feed and the deal.
// May change here: more promises.
package sourcetest
