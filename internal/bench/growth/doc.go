// Package growth shows how the costs of a lake grow with its age, in a market of constant size.
//
// Takes: figures of one lake's nights from its benchmark: a row per night.
// Gives: the figures as CSV and back; their values at the beginning and at the end; a drawing of them in SVG, each
// with its best straight line.
// Keeps: pure: no clock, no network, no disk, except in the benchmark itself (growth_test.go).
// Fails: if a table is not one of this package.
// May change here: what is measured: a column is a field of Row and one line in columns.
//
// To measure a year, which takes some minutes:
//
//	TEST_NIGHTS=365 TEST_GROWTH=/tmp/growth.csv go test -run '^$' -bench Growth -benchtime 1x -timeout 1h ./internal/bench/growth
//	go run ./internal/bench/growth/plot < /tmp/growth.csv > /tmp/growth.svg
package growth
