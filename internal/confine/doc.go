// Package confine starts processes that can do less than their parent.
//
// Takes: a command, and the files that its process may use.
// Gives: the process, which the kernel keeps from all other files and from the network; limits that a process sets itself.
// Keeps: the parent is not restricted. The process cannot lift what restricts it, and ends with its parent.
// Fails: with ErrUnsupported, which names what this system lacks; nothing is then started.
// May change here: systems besides Linux; later versions of Landlock.
package confine
