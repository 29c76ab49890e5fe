// Package instant reads the dates and instants of records.
//
// Takes: a text of a record, without its quotes.
// Gives: days since 1970-01-01, or microseconds since 1970-01-01T00:00:00Z.
// Keeps: only the forms YYYY-MM-DD and YYYY-MM-DDThh:mm:ss with a zone are read, of days that the calendar has, in the years 1
// to 9999. Nothing is allocated.
// Fails: never. The last result says whether the text was read.
// May change here: the speed. FuzzInstants compares each value with that of the standard library.
package instant
