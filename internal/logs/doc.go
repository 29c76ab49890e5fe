// Package logs writes the lines that a command prints on stderr, as text or as JSON.
// Takes: records of log/slog whose message is a name of the vocabulary.
// Gives: one line for each record, and the vocabulary: the names, and the fields of each.
// Keeps: a line is written at once and completely. JSON has all fields; text has a sentence where the record has one.
// Fails: never; what cannot be written is lost.
// May change here: the forms of text, and new names; a name or a field is never given another meaning.
package logs
