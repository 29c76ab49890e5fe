package api

import (
	"math"
	"strconv"
	"strings"
)

func isLiteral(token []byte) bool {
	switch string(token) {
	case "true", "false", "null":
		return true
	}
	return false
}

// isNumber reports whether a token is a number in JSON's grammar.
func isNumber(token []byte) bool {
	_, ok := splitNumber(string(token))
	return ok
}

// number is a parsed JSON number with its digits as in the text.
type number struct {
	negative        bool
	whole, fraction string
	power           int // exponent as written, limited to ±1e9
}

// integer reads a JSON number that is a 64-bit integer, in any spelling.
func integer(token []byte) (int64, bool) {
	n, ok := splitNumber(string(token))
	if !ok {
		return 0, false
	}
	digits, power := strings.TrimLeft(n.whole+n.fraction, "0"), n.power-len(n.fraction)
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant)
	if significant == "" {
		return 0, true
	}
	const most = 19 // digits of the largest int64
	if power < 0 || power > most || len(significant)+power > most {
		return 0, false
	}
	sign := ""
	if n.negative {
		sign = "-"
	}
	id, err := strconv.ParseInt(sign+significant+strings.Repeat("0", power), 10, 64)
	return id, err == nil
}

// splitNumber parses a JSON number. ok is false if the text is not one.
func splitNumber(text string) (n number, ok bool) {
	text, n.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n.power, ok = readPower(text[i+1:]); !ok {
			return number{}, false
		}
		text = text[:i]
	}
	whole, fraction, point := strings.Cut(text, ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' || point && !allDigits(fraction) {
		return number{}, false
	}
	n.whole, n.fraction = whole, fraction
	return n, true
}

// readPower reads an exponent, limited to ±1e9: larger ones give the same result.
func readPower(text string) (int, bool) {
	unsigned := strings.TrimPrefix(text, "-")
	negative := unsigned != text
	if !negative {
		unsigned = strings.TrimPrefix(text, "+")
	}
	if !allDigits(unsigned) {
		return 0, false
	}
	n, err := strconv.ParseInt(unsigned, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	power := int(min(n, 1e9))
	if negative {
		power = -power
	}
	return power, true
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
