package transform

import (
	"cmp"
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"testing"
)

// numberText splits a JSON number: sign, integer part, fraction, exponent.
var numberText = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// FuzzNumber compares decimals, integers and the canonical spelling with math/big.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{
		"0", "-0", "-0.0e9", "7", "7.0", "1e2", "7.5", "1.475E9", "99.500", "0.0000005", "-0.0000005", "0.00000049", "999999.9999995",
		"999999999999999999.999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"9999999999999999999", "1e18", "1e19", "1e38", "1e-7", "123456789012345678901234567890.5", "10.0e-1", "0.00012e4", "1E+001", "5e-7", "4.9e-7",
		"99999999999999999999999999999999999999.4999", "1" + "00000000000000000000000000000000000000000000e-44",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts := numberText.FindStringSubmatch(text)
		if parts == nil {
			return
		}
		if exponent, err := strconv.Atoi(cmp.Or(parts[4], "0")); err != nil || exponent > 5000 || exponent < -5000 {
			return // the seeds contain huge exponents
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s: math/big reads no number", text)
		}
		checkDecimals(t, text, exact)
		checkInteger(t, text, exact)
		form := string(appendCanonicalNumber(nil, []byte(text)))
		if back, ok := new(big.Rat).SetString(form); !ok || back.Cmp(exact) != 0 || !json.Valid([]byte(form)) {
			t.Errorf("%s: got canonical form %s, want a number of the same value", text, form)
		}
	})
}

func checkDecimals(t *testing.T, text string, exact *big.Rat) {
	t.Helper()
	for _, typ := range []struct{ precision, scale int32 }{{24, 6}, {20, 10}, {12, 6}, {38, 0}, {38, 38}} {
		// Half away from zero: the integer part of |x|·10^scale + 1/2.
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.scale)), nil)
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.precision)), nil)
		scaled := new(big.Rat).Mul(new(big.Rat).Abs(exact), new(big.Rat).SetInt(unit))
		scaled.Add(scaled, big.NewRat(1, 2))
		want := new(big.Int).Quo(scaled.Num(), scaled.Denom())
		fits := want.Cmp(limit) < 0
		if exact.Sign() < 0 {
			want.Neg(want)
		}
		whole := new(big.Rat).Mul(exact, new(big.Rat).SetInt(unit)).IsInt()
		got, isExact, ok := decimal([]byte(text), typ.precision, typ.scale)
		if ok && isExact != whole {
			t.Errorf("%s as DECIMAL(%d,%d): got exact %t, want %t", text, typ.precision, typ.scale, isExact, whole)
		}
		if ok != fits || ok && got.BigInt().Cmp(want) != 0 {
			t.Errorf("%s as DECIMAL(%d,%d): got %s %t, want %s %t", text, typ.precision, typ.scale, got.BigInt(), ok, want, fits)
		}
	}
}

func checkInteger(t *testing.T, text string, exact *big.Rat) {
	t.Helper()
	want := exact.IsInt() && exact.Num().IsInt64()
	got, ok := integer([]byte(text))
	if ok != want || ok && got != exact.Num().Int64() {
		t.Errorf("%s as an integer: got %d %t, want %s %t", text, got, ok, exact, want)
	}
}
