package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagValue is the value of every flag. It checks each text before the flag gets it, from the command line, the
// environment and the settings file. Numbers are decimal: pflag takes 010 for 8.
type flagValue struct {
	pflag.Value
	flag  *pflag.Flag
	check func(text string) error // of flagChecks; nil for none
}

// checkValues gives each flag of each command a flagValue.
func checkValues(root *cobra.Command) {
	walkFlags(root, func(cmd *cobra.Command, f *pflag.Flag) {
		if _, done := f.Value.(*flagValue); done { // a flag of several commands
			return
		}
		check, _ := forFlag(flagChecks, cmd, f)
		if values, ok := forFlag(fixedValues, cmd, f); ok {
			check = oneOf(values)
		}
		f.Value = &flagValue{Value: f.Value, flag: f, check: check}
		if f.DefValue == "0s" { // which the help texts of pflag take for a default to show
			f.DefValue = "0"
		}
	})
}

// walkFlags calls visit for each flag of each command, also of hidden ones. A flag may come several times.
func walkFlags(root *cobra.Command, visit func(*cobra.Command, *pflag.Flag)) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		visitHere := func(f *pflag.Flag) { visit(cmd, f) }
		cmd.PersistentFlags().VisitAll(visitHere)
		cmd.Flags().VisitAll(visitHere)
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
}

// errEmpty refuses --drop-day "$DAY" where DAY is not set: the default would do something else than what was asked for.
var errEmpty = errors.New("is empty: give it a value, or leave it out")

// errTwice refuses two values of a flag that has one. It shows none: the flag's value may be secret.
var errTwice = errors.New("is given twice, with two values: give it once")

// errNextFlag refuses --lake $LAKE --require-lake where LAKE is not set: the next flag would be the value. It shows none, which may be secret.
var errNextFlag = errors.New("has a flag as its value: is its own value missing, as that of a variable without quotes that is empty?")

// flagLike matches the flags of the program.
var flagLike = regexp.MustCompile(`^(--[a-z]|-[a-z]$)`)

// Set implements pflag.Value. Its errors are errEmpty, errTwice, errNextFlag, or begin with the text that was refused.
func (v *flagValue) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errEmpty
	}
	if v.Type() == "string" && flagLike.MatchString(text) {
		return errNextFlag
	}
	if v.flag.NoOptDefVal != "" && v.Type() == "string" { // a flag with or without a value
		switch text {
		case "true":
			text = v.flag.NoOptDefVal
		case "false":
			return v.Value.Set(v.flag.DefValue)
		}
	}
	text, err := canonical(v.Type(), text)
	if err == nil && v.check != nil {
		err = v.check(text)
	}
	if err != nil {
		return err
	}
	// Only the command line sets a flag that it has set before.
	switch isList := v.flag.Annotations[listFlag] != nil; {
	case v.flag.Changed && isList:
		text = v.String() + "," + text
	case v.flag.Changed:
		earlier := v.String()
		if err := v.Value.Set(text); err != nil {
			return err
		}
		if v.String() != earlier {
			return errTwice
		}
		return nil
	}
	return v.Value.Set(text)
}

// canonical returns a value of a flag's type in the one form that pflag reads as it is meant. No flag has a use for a
// negative number or duration.
func canonical(kind, text string) (string, error) {
	refused := func(want string) (string, error) { return "", fmt.Errorf("%q: want %s", text, want) }
	switch kind {
	case "int", "int64":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return refused("a whole number, 0 or more")
		}
		return strconv.FormatInt(n, 10), nil
	case "uint64":
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return refused("a whole number, 0 or more")
		}
		return strconv.FormatUint(n, 10), nil
	case "float64":
		x, err := strconv.ParseFloat(text, 64)
		if isDecimal := !strings.ContainsAny(text, "xX_"); err != nil || !isDecimal || !(x >= 0) || math.IsInf(x, 0) { // NaN neither
			return refused("a number, 0 or more")
		}
	case "duration":
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return refused("a duration such as 90s or 2h, 0 or more")
		}
	case "bool":
		if _, err := strconv.ParseBool(text); err != nil {
			return refused("true or false")
		}
	}
	return text, nil
}

// named puts what was refused before the error, and where it is from; "" for the command line, on which the text is next to its flag.
func named(what, from string, err error) error {
	switch {
	case from != "":
		return fmt.Errorf("%s, from %s: %w", what, from, err)
	case strings.HasPrefix(err.Error(), `"`):
		return fmt.Errorf("%s %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// refusal says which flag was refused, and where the value is from; "" for the command line. The error is that of Set.
func refusal(f *pflag.Flag, from string, err error) error {
	what := "--" + f.Name
	isOfFlag := errors.Is(err, errEmpty) || errors.Is(err, errTwice) || errors.Is(err, errNextFlag)
	switch {
	case isOfFlag && from != "":
		return fmt.Errorf("%s, from %s, %w", what, from, err)
	case isOfFlag:
		return fmt.Errorf("%s %w", what, err)
	}
	return named(what, from, err)
}

// flagError returns the error for a command line that pflag refuses.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		err = refusal(invalid.GetFlag(), "", invalid.Unwrap())
	}
	return usagef("%w%s; see `%s --help`", err, likelyFlag(cmd, err), cmd.CommandPath())
}
