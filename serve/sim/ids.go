package sim

import "fmt"

// Codes of securities, from ranges that no real security uses, with correct check digits.

// isin returns an international number (XS), or an American one if us is true. American ones are in the block of CUSIP
// issuers that is reserved for private use.
func isin(d *dice, us bool) string {
	international := fmt.Sprintf("XS9%08d", d.IntN(100_000_000))
	american := cusip("99" + code(d, "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ", 4) + code(d, "ABCDEFGH", 1) + code(d, "0123456789", 1))
	if us {
		return isinCheck("US" + american)
	}
	return isinCheck(international)
}

// isinCheck appends the check digit to the first eleven characters.
func isinCheck(body string) string {
	var digits []int
	for _, c := range body {
		if v := charValue(c); v >= 10 {
			digits = append(digits, v/10, v%10)
		} else {
			digits = append(digits, v)
		}
	}
	sum := 0
	for i, v := range digits {
		if (len(digits)-i)%2 == 1 { // the last, third last …
			v *= 2
		}
		sum += v/10 + v%10
	}
	return body + string(rune('0'+(10-sum%10)%10))
}

// cusip appends the check digit to the first eight characters.
func cusip(body string) string {
	sum := 0
	for i, c := range body {
		v := charValue(c)
		if i%2 == 1 {
			v *= 2
		}
		sum += v/10 + v%10
	}
	return body + string(rune('0'+(10-sum%10)%10))
}

const consonantsAndDigits = "0123456789BCDFGHJKLMNPQRSTVWXYZ"

// figi returns a number from a range that is not assigned.
func figi(d *dice) string { return figiCheck("BBGZZ" + code(d, consonantsAndDigits, 6)) }

// figiCheck appends the check digit to the first eleven characters.
func figiCheck(body string) string {
	sum := 0
	for i, c := range body {
		v := charValue(c)
		if (len(body)-i)%2 == 0 { // the second last, fourth last …
			v *= 2
		}
		sum += v/10 + v%10
	}
	return body + string(rune('0'+(10-sum%10)%10))
}

// bloomberg returns a prefix of two letters and seven digits. Loans have their own prefix.
func bloomberg(d *dice, prefix string) string {
	return fmt.Sprintf("%s%07d", prefix, d.IntN(10_000_000))
}

func charValue(c rune) int {
	if c >= 'A' {
		return int(c-'A') + 10
	}
	return int(c - '0')
}

func code(d *dice, alphabet string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[d.IntN(len(alphabet))]
	}
	return string(text)
}
