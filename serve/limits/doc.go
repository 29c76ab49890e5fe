// Package limits keeps one client of a server from shutting out others.
//
// Takes: a listener's connections, and requests that want a turn for costly work. Gives: the connections that the limits
// admit, and turns, fairly by address and client. Keeps: nothing but counts and queues. Fails: with ErrBusy, if too many
// requests wait. May change here: the limits, and who counts as one client.
package limits
