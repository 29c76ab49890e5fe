// Package growth shows how the costs of a lake grow with its age, in a market of constant size.
//
// Takes: Rows: the measured costs of one lake, a Row for each night.
// Gives: Write and Read, the rows as CSV; Tenths, a cost at the beginning and at the end; Plot, an SVG drawing of the
// costs in seconds, each with its best straight line.
// Keeps: pure: no clock, no network, no disk, except in the benchmark itself (growth_test.go).
// Fails: Read, if the CSV has an unknown column or a value that is no number.
// May change here: what is measured: a column is a field of Row and one line in columns.
//
// To measure a year, which takes some minutes:
//
//	TEST_NIGHTS=365 TEST_GROWTH=/tmp/growth.csv go test -run '^$' -bench Growth -benchtime 1x -timeout 1h ./internal/bench/growth
//	go run ./internal/bench/growth/plot < /tmp/growth.csv > /tmp/growth.svg
//
// With TEST_SYNCS=2 TEST_PAST=1440 these are five years of nights and syncs, of which most are only in the log.
package growth
