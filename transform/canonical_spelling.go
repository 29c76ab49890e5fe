package transform

import (
	"bytes"
	"math/big"
	"strconv"
)

// appendCanonicalString appends text as a JSON string in canonical form.
func appendCanonicalString(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	written := 0
	for i, b := range text {
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, text[written:i]...)
		written = i + 1
		if b < 0x20 {
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		} else {
			dst = append(dst, '\\', b)
		}
	}
	dst = append(dst, text[written:]...)
	return append(dst, '"')
}

// appendCanonicalNumber appends a JSON number in canonical form.
func appendCanonicalNumber(dst, text []byte) []byte {
	n := parseNumber(text)
	if n.digits == 0 {
		return append(dst, '0')
	}
	if n.neg {
		dst = append(dst, '-')
	}
	for _, b := range n.text {
		if b != '.' {
			dst = append(dst, b)
		}
	}
	if n.exponent > -maxExponent/2 && n.exponent < maxExponent/2 {
		if n.exponent == 0 {
			return dst
		}
		return strconv.AppendInt(append(dst, 'e'), n.exponent, 10)
	}
	return append(append(dst, 'e'), exactExponent(text)...)
}

// exactExponent returns the exponent of the last nonzero digit, as text, if it may not fit into a machine word. Two
// different numbers must have different forms, however large their exponents are.
func exactExponent(text []byte) []byte {
	mantissa, written, _ := bytes.Cut(bytes.ToLower(text), []byte("e"))
	e, _ := new(big.Int).SetString(string(bytes.TrimPrefix(written, []byte("+"))), 10)
	e.Add(e, big.NewInt(parseNumber(mantissa).exponent))
	return e.Append(nil, 10)
}
