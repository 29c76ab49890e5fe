// Package columnar collects cells into Arrow arrays, column by column.
//
// Takes: cells in the order of their rows.
// Gives: Arrow arrays of the column's type; those of a dictionary type with their dictionary.
// Keeps: a row without a cell is NULL. A dictionary contains each text once, in the order of first appearance.
// Fails: never; a cell whose row was not reserved panics.
// May change here: how fast it is. TestColumn compares each array with that of Arrow's own builder.
package columnar
