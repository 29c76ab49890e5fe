// Package attempts records each attempt of a command on a lake: that it began, how it ended, or that it was killed.
// Takes: the lake's store, a local work folder, a clock, and what the command says of itself.
// Gives: small objects under lake.AttemptsPrefix, and for readers the list of attempts, newest first.
// Keeps: no answer depends on these objects. Each is put once and never changed. Recording changes no command's result:
// what could not be put is a warning, and waits in the work folder until the next start. A lake that this program must
// not write to, and a place without a lake, get no object.
// Fails: Begin and End never; readers with the store's error.
// May change here: what an attempt says, and when a process counts as killed.
package attempts
