// Package grid has what the explorer's pages are made of: tables, and texts that people read.
//
// Takes: values of answers.
// Gives: tables of cells for the templates; numbers, instants and differences as text.
// Keeps: pure. A value that was cut has the whole in its title. NULL differs from an empty text.
// Fails: never.
// May change here: how a value looks.
package grid
