// Package jsonread reads one complete JSON text in memory. It returns parts of the text instead of tokens,
// without a buffer or a copy.
//
// Takes: a text of valid UTF-8; the caller has checked that.
// Gives: the values of the text in order, each as a part of the text.
// Keeps: RFC 8259, strictly: only valid JSON is accepted, a member's name occurs once in an object (also in
// a skipped one), and brackets nest at most 10,000 deep. A lone escaped surrogate is accepted. The time is
// linear in the size of any text. A reused Reader does not allocate once its buffers have grown.
// Fails: at the first fault; nothing is read after it. See Reader.
// May change here: the speed. FuzzReader compares Reader with the package jsontext: both accept the same texts and find
// the same values.
//
// Only transform uses it. schemas/api must find a record's id although the record has faults, and has its own
// lenient reader (schemas/api/scanner.go says why).
package jsonread
