// Package watch carries out the commands that a schedule owes to a lake, one at a time, until it is stopped.
// Takes: a plan, a function that carries out a command and returns its exit code, one that reads what earlier commands
// have done, a clock, a wait, and the lake's store.
// Gives: the commands in their order; an object in the lake that says which watch is at work; what the watch is doing.
// Keeps: one command at a time. What was done is read from the lake, so a watch that was killed or that slept continues
// where it was. No command runs while another watch is at work on the lake. No answer depends on the object.
// Fails: with ErrBusy if another watch is at work, with ErrStuck if a command does not end, and at the start with the
// store's error. Later failures of the store are warnings.
// May change here: what is tried again, and when.
package watch
