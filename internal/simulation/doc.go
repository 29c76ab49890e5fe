// Package simulation tests runs by simulation. It executes nights of pull.Run and pull.Sync against a market that
// changes while it is read, over a network that fails, with crashes and wrong clocks. One seed determines everything.
//
// Takes: a seed (-seed, or the first TEST_SIM_SEEDS of them).
// Gives: tests, and nothing else. A failure names its seed and the command that replays it.
// Keeps: everything is real except the wire and the disk. The API's own handler runs in a real HTTP server on an
// in-memory listener, with the real client; the lake is in memory. Time is that of a testing/synctest bubble: waits
// cost nothing, and the market changes during a wait. The events of a seed depend on the seed alone
// (network_test.go says how).
// Fails: if a commit breaks a promise (checker_test.go).
// May change here: how difficult market, network and clocks are. A change here changes every seed.
package simulation
