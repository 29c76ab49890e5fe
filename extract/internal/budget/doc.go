// Package budget limits the bytes that many readers have in memory together.
//
// Takes: claims of readers, which grow while a reader reads what has no known size.
// Gives: memory, as a number of bytes; who has it allocates it.
// Keeps: never more than the limit is claimed. No readers wait for each other for ever.
// Fails: with ErrCrowded if a reader must give its memory up and begin again, with ErrTooLarge if it needs more than the
// limit, and with the context's error.
// May change here: the order in which readers are served, and the size of steps.
package budget
