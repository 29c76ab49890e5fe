// Package bench measures the program against the machine: what a whole run costs beside the floors under it, which
// only download, read, hash or write, and beside other tools, all on the same pages from one server.
//
// Takes: the program, which it builds; TEST_FULL=1 for the sizes that docs/bench publishes;
// TEST_PYTHON, a Python with the tools of .ci/peers, for the peers.
// Gives: benchmarks in the format of benchstat; internal/bench/goals makes the table of goals of them.
// Keeps: the server is a process of its own that answers from memory, so that its CPU time is nobody's;
// what is compared is measured in one execution. Only tests; nothing here is part of the program.
// Fails: through testing.B.
// May change here: sizes, floors, peers.
package bench
