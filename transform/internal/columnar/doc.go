// Package columnar collects cells into Arrow arrays, column by column.
//
// Takes: cells in the order of their rows.
// Gives: Arrow arrays of the column's type; an array of a dictionary type includes its dictionary.
// Keeps: a row without a cell is NULL. A dictionary contains each text once, in the order of first appearance.
// Fails: never. Putting a cell in a row that was not reserved panics.
// May change here: the speed. TestColumn compares each array with that of Arrow's own builder.
package columnar
