// Package sourcetest tests that a serve.Source keeps what the server and its clients rely on.
//
// Takes: a Config: a function that returns a new market, with a way to let its time pass.
// Gives: Run, a test with a subtest for each promise.
// Keeps: it uses a market only through serve.Source. It needs at least 15 deals in every feed.
// Fails: through testing.T, with the feed and the deal.
// May change here: more promises.
package sourcetest
