// Package longlake builds a lake with many years of history, for tests and benchmarks that need one as
// large and as old as a real one: fifteen years of twelve feeds in minutes, because nothing goes over
// HTTP.
//
// Takes: a Config: a seed, how many years, and what part of the real counts of deals.
// Gives: Build, which writes such a lake into a folder; Open, which builds each lake once on a machine
// and gives its folder; Clone, for tests that write; Nights and NewMarket, the truth behind a lake.
// Keeps: versions are decided, rows flattened and files committed by transform and load themselves, in
// the order of a real run, with the instants of a virtual clock. Equal configurations give equal bytes of
// every object. A lake that Open gives is shared: nobody writes there. Imported by tests only;
// internal/arch checks it.
// Fails: Build with an error; Open and Clone through testing.TB.
// May change here: anything, with builderVersion where the bytes change.
//
// What differs from a lake that runs have filled: the market is read as it is, so a feed's run counts no
// pages, requests, bytes or time; deals that a list leaves out for a day are known on their first night;
// and of most nights there is no snapshot, as if it had expired long ago: each is a copy of everything
// (see Config.SnapshotMonths). The lake has no catalog; who asks it opens one of its own.
//
// In full size, with all the defaults, a lake has 243 nights and some 120,000 priced deals:
// BenchmarkBuild tells how long it takes and how large it is.
package longlake
