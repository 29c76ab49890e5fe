// Package calibration contains the figures and the words of the simulated market, as data: counts, shares,
// sizes, names and sentences.
//
// Takes: nothing.
// Gives: variables that are read and never written, and the types of their entries.
// Keeps: all names of companies, banks and sponsors are invented. There is no function here: package sim draws
// from the data.
// Fails: never.
// The comment of each variable says where its values are from: public figures, market practice, an assumption, or
// derived from other figures. An assumption is a choice that no source supports: change it if you know better.
//
// May change here: how lifelike the market is. A change here changes the bytes of every seed. TestMarginals
// compares the shares of the simulated market with the figures here, TestConsistency those that follow from them.
package calibration

// Weighted is a choice and its weight. The weights of a list have any sum.
type Weighted[T any] struct {
	Weight float64
	Value  T
}

// Point is a value in a year; between two points the value changes evenly.
type Point struct{ Year, Value float64 }
