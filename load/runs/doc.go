// Package runs sums up the runs of many years: which commits a log must hold to decide, and the segments that hold all of
// them.
// Takes: commits without their files, oldest first.
// Gives: Needed, those that decisions depend on; segments, each with Size commits, and what they hold; what young commits
// removed.
// Keeps: it only reads from a store. What Needed leaves out changes no answer of load.Log, and it may be applied to its own
// result and later commits.
// Fails: a segment that is absent or damaged is made again from its commits; if these are not there either, it is an error.
// May change here: which commits are needed: a caller that asks the log for more about old runs adds it there.
package runs
