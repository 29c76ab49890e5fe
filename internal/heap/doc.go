// Package heap says how much garbage the process may keep.
// Takes: bytes.
// Gives: while it lasts, fewer collections of garbage than the process's setting asks for.
// Keeps: a large heap grows by no more than by that setting; the setting is restored.
// Fails: never.
// May change here: how the bytes become a setting of the runtime.
package heap
