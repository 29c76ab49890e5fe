// Package jsonread reads one complete JSON text that lies in memory: positions instead of tokens, no
// buffer and no copy.
//
// Takes: a text that is valid UTF-8 throughout; the caller has checked it as a whole.
// Gives: its values in their order, as the parts of the text that they are.
// Keeps: strict as RFC 8259 is: nothing is read that is not JSON, a member's name comes once in an object
// (also in one that is passed over), and nothing nests deeper than 10,000. An escaped surrogate may
// stand alone. Linear in the size of the text whatever it holds, and in the steady state it allocates
// nothing.
// Fails: at the first fault; after it nothing more is read. See Reader.
// May change here: how fast it is. What it takes is held against another reader by FuzzReader.
//
// Only transform uses it. schemas/api must find a record's id although the record has faults, and has a lenient
// reader of its own (schemas/api/scanner.go says why).
package jsonread
