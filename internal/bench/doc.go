// Package bench measures the program against the machine. It compares the cost of a complete run with floors, which
// only download, read, hash or write, and with other tools. All use the same pages from one server.
//
// Takes: the program, which it builds; TEST_FULL=1 for the sizes that docs/bench publishes; TEST_PYTHON, a Python
// with the tools of .ci/peers, for the other tools.
// Gives: benchmarks in the format of benchstat. internal/bench/goals builds the table of goals from them.
// Keeps: the server is a separate process that answers from memory, so that its CPU time counts for no
// measurement. Figures that are compared are measured in one execution. Only tests; nothing here is part of the
// program.
// Fails: through testing.B.
// May change here: sizes, floors, other tools.
package bench
