// Package chart draws charts as SVG.
//
// Takes: series of values with their categories, or spans and marks in time.
// Gives: a Drawing, whose SVG goes into a page; Style, the palette and the classes that drawings use.
// Keeps: the same values give the same bytes; no clock, no network, no script. Every text of a drawing goes through
// html/template: nothing in the data is ever markup. Each shape is inside its drawing.
// Fails: never for a value: what is not finite is not drawn.
// May change here: a new kind of chart is one file, and a case in chart_test.go.
package chart
