// Package sim is a deterministic simulated market: bond and loan deals that are announced, changed, priced, corrected,
// increased and removed, as the API's twelve feeds show them.
//
// Takes: a Config: a seed, the start of the market's history, a clock, sizes, and rates of quirks.
// Gives: a Market, which is a serve.Source and a serve.Advancer, and all its deals, listed or not (Deals).
// Keeps: what a Market answers is a pure function of its Config and the instant. Requests and the steps of the clock do
// not change it. All names and codes are invented; codes come from ranges that no real security uses. Only RealClock
// reads the machine's clock.
// Fails: serve.ErrNotFound for a deal that does not exist, and the context's error.
// May change here: how lifelike the market is; its figures and words are in package calibration. A change here changes
// the bytes of every seed.
//
// A calendar (calendar.go) says how many deals are priced on a day: by market and year, season, holiday, and a regime
// that can change each week. The market draws an offer months before the day on which it prices, with the steps that
// lead there (stock.go). A heap of events runs on a timeline of whole seconds (timeline.go). Each deal has its own
// seed, and a script of what will happen to it, which is made when the deal appears (script.go, bondpipeline.go,
// loanexpected.go). The number of executed steps identifies a version, so a deal with all its versions takes a few
// hundred bytes. The JSON of a deal is made from seed, script and steps when it is requested. It is kept until the
// next step if the cache has space (bodies.go).
//
// Without Config.Years a market is for tests: cheap, with far more events in a day than its past had. Its past contains
// only priced deals, the same number in each market. With Config.Years all of its past is simulated at the rate of its
// present, with the mix and the counts of real markets, or with Config.Deals in each. TestMarginals compares the figures
// with those of real markets; TestConsistency checks that deals do not contradict themselves or each other.
package sim
