// Package sim is a deterministic simulated market: bond and loan deals that are announced, change,
// price, are corrected, increased and removed, as the API's twelve feeds show them.
//
// Takes: a Config: a seed, the start of the market's history, a clock, sizes, and rates of quirks.
// Gives: a Market, which is a serve.Source, and the truth behind its lists (Deals).
// Keeps: all that a Market says is a pure function of its Config and the clock's instant; neither
// requests nor the steps of the clock change it. All names and codes are invented; codes come from
// ranges that no real security uses. Nothing here reads the machine's clock but RealClock.
// Fails: nothing; asking for a deal that is not there is serve.ErrNotFound.
// May change here: how lifelike the market is. A change here changes the bytes of every seed.
//
// How it works: a heap of events runs on a timeline of whole seconds that begins before
// Config.Epoch (timeline.go). Each deal has a seed of its own and a script, made when the deal is
// born, of what will happen to it. Its JSON is made from seed, script and the number of steps done,
// when somebody asks for it, and kept until the next step.
package sim
