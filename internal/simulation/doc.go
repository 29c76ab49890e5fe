// Package simulation proves runs by simulation: whole nights of pull.Run and pull.Sync against a
// market that moves while it is walked, over a network that fails, with crashes and clocks that are off,
// all from one seed.
//
// Takes: a seed (-seed, or the first TEST_SIM_SEEDS of them).
// Gives: tests, and nothing else: a seed that fails is named with the command that replays it.
// Keeps: everything real but the wire and the disk: the API's own handler behind a real HTTP server on
// an in-memory listener, the real client, the lake in memory. Time is that of a testing/synctest bubble:
// waits cost nothing, and the market goes on while they last. What a seed does depends on the seed alone
// (network_test.go says how).
// Fails: where a commit breaks a promise of the design (judge_test.go).
// May change here: how nasty market, network and clocks are. A change here changes every seed.
package simulation
