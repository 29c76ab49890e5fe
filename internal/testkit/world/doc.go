// Package world is the world in which end-to-end tests run: a market, an HTTP server in front of it, and
// a lake that is filled from it by the real commands. It also has what such tests ask of a lake: queries,
// comparisons with the market's own state, and deliberate damage.
//
// Takes: a test, and a configuration of a simulated market or a book of deals.
// Gives: a World, Books, the Truth, and Want… functions that compare.
// Keeps: only commands.go knows the packages that run commands; time passes only when a test moves the
// clock; everything is closed when the test ends.
// Fails: through testing.TB.
// May change here: anything that tests of two packages need. It imports most packages, so only external
// tests (package …_test) can import it.
package world
