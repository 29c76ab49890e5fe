// Package config finds the value of each flag in the environment and in the settings file.
// Takes: the list of settings, the variables of the process, the text of a YAML file, the name of a profile.
// Gives: for a setting, its value and where that was found.
// Keeps: a name that no setting has is never ignored in silence: in the file it is a fault, among the variables the
// caller is told. What accepts, dates or destroys something once is only on the command line.
// Fails: with all faults of the sources in one error, each with its place, and never with a value.
// May change here: the forms of names, and how a profile is chosen.
package config
