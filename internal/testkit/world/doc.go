// Package world sets up end-to-end tests: a simulated market, an HTTP server in front of it, and a lake that
// the real commands fill from that server. It can also query a lake, compare it with the market's own state, and
// damage it on purpose.
//
// Takes: a test, and a configuration of a simulated market or a book of deals.
// Gives: a World, Books, the Truth, and Want… functions that compare.
// Keeps: only commands.go knows the packages that run commands; time passes only when a test moves the
// clock; everything is closed when the test ends.
// Fails: through testing.TB.
// May change here: anything that tests of two packages need. It imports most packages, so only external
// tests (package …_test) can import it.
package world
