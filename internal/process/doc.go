// Package process tells whether another process of this machine still lives.
// Takes: what that process said of itself, in JSON.
// Gives: whether it is certain that it has ended, or that it has not.
// Keeps: in doubt neither is certain, such as for a process of another machine or container.
// Fails: never; on a system that does not say enough, nothing is certain.
// May change here: systems besides Linux.
package process
