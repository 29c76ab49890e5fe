// Package longlake builds a lake with many years of history, for tests and benchmarks that need one as large and as old
// as a real one. Fifteen years of twelve feeds take minutes, because nothing goes over HTTP.
//
// Takes: a Config: a seed, the number of years, and the share of the real numbers of deals.
// Gives: Build, which writes such a lake into a folder; Open, which builds each lake once on a machine and returns
// its folder; Clone, for tests that write; Nights and NewMarket, the truth about a lake.
// Keeps: transform and load themselves decide versions, flatten rows and commit files, in the order of a real run,
// with the instants of a virtual clock. Equal configurations give equal bytes of every object. A lake from Open is
// shared: tests only read it. Imported by tests only; internal/arch checks it.
// Fails: Build with an error; Open and Clone through testing.TB.
// May change here: anything; builderVersion rises if the bytes change.
//
// Differences from a lake that runs have filled: the market is read directly, so a feed's run counts no pages,
// requests, bytes or time. Deals that a list leaves out for a day are known on their first night. Most nights have no
// snapshot, as if it had expired long ago, because each is a copy of everything (see Config.SnapshotMonths). The lake
// has no catalog; a test that needs one opens its own.
//
// In full size, with all the defaults, a lake has 243 nights and some 120,000 priced deals. BenchmarkBuild reports how
// long the build takes and how large the lake is.
package longlake
