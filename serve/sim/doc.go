// Package sim is a deterministic simulated market: bond and loan deals that are announced, change,
// price, are corrected, increased and removed, as the API's twelve feeds show them.
//
// Takes: a Config: a seed, the start of the market's history, a clock, sizes, and rates of quirks.
// Gives: a Market, which is a serve.Source and a serve.Advancer, and the truth behind its lists
// (Deals).
// Keeps: all that a Market says is a pure function of its Config and the instant; neither requests
// nor the steps of the clock change it. All names and codes are invented; codes come from ranges that
// no real security uses. Nothing here reads the machine's clock but RealClock.
// Fails: nothing; asking for a deal that is not there is serve.ErrNotFound.
// May change here: how lifelike the market is; its figures and words are in package calibration. A change
// here changes the bytes of every seed.
//
// How it works: a calendar (calendar.go) says how many deals are priced on a day: counts by market
// and year, seasons, holidays, and regimes that come and go by the week. For each of them an offer is
// drawn, months ahead, with the route by which it comes to its day (stock.go). A heap of events runs
// on a timeline of whole seconds (timeline.go). Each deal has a seed of its own and a script, made
// when the deal appears, of what will happen to it (script.go, bondpipeline.go, loanexpected.go): so
// a version is a number of steps done, and a deal with all its versions takes some hundred bytes. Its
// JSON is made from seed, script and steps when somebody asks for it, and kept until the next step
// while there is room (bodies.go).
//
// Without Config.Years a market is small and cheap: its past is priced deals alone, as many in each
// market. With Config.Years all of its past is simulated, in the mix and the counts of real markets.
// TestMarginals says how near it comes to them.
package sim
