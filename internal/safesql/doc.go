// Package safesql runs statements of people who are not trusted with the machine.
//
// Takes: a statement; a catalog file with the local folder of its lake; a command that calls Serve.
// Gives: the answer in a format of Serve's caller, or as Parquet; or why the statement is refused or failed.
// Keeps: a statement reads what the catalog shows and nothing else, writes nothing, and ends in its time. Each statement has a
// process of its own (Runner), with an empty environment. Three gates protect it: an allow-list on its syntax (syntax.go); the
// engine's settings (worker.go); and what the kernel lets the process do (internal/confine). Each holds without the others for
// what it is there for, except that only the end of the process bounds its time.
// Fails: with a *Refusal for what the syntax gate does not allow; with ErrTime; with ErrSystem where the system cannot confine a
// process; otherwise with a *Failure, which has DuckDB's message.
// May change here: what is allowed (syntax.go), and the limits of a statement.
package safesql
