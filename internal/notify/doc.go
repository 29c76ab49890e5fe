// Package notify sends a message to a command, to a web server, or to the end of a file.
// Takes: a message, and the text of a setting that says where to: a URL, a shell command, or a path.
// Gives: the message delivered, or an error.
// Keeps: a message has a time limit, and a web server more than one try. No error has more of a URL than its host: paths and
// parameters of webhooks are secrets.
// Fails: after the last try, with what the last one said; nothing is kept for later.
// May change here: how often and after what wait a web server is tried.
package notify
