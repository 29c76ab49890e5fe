package text_test

import (
	"bytes"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// checkReading checks the properties that every reading has.
func checkReading(t *testing.T, parser lake.Parser, raw []byte, siblings text.Siblings) {
	t.Helper()
	original := bytes.Clone(raw)
	normal, _ := text.Normalise(nil, raw)
	var r, again text.Reading
	text.Parser(parser)(normal, siblings, &r)
	if !bytes.Equal(raw, original) {
		t.Fatalf("%s changed its text %q to %q", parser, original, raw)
	}
	twice, _ := text.Normalise(nil, normal)
	text.Parser(parser)(twice, siblings, &again)
	if !bytes.Equal(normal, twice) || !reflect.DeepEqual(r, again) {
		t.Fatalf("%s %q: normalised to %q, again to %q:\n%s\n%s", parser, raw, normal, twice, render(&r), render(&again))
	}
	if r.Failed {
		t.Fatalf("%s %q: the parser failed", parser, raw)
	}
	checkStatus(t, parser, normal, &r)
	for _, part := range append(rangesOf(&r), &r.Yield, &r.Issue) {
		checkRange(t, parser, normal, part)
	}
	checkRating(t, parser, normal, &r)
	checkJustified(t, parser, normal, siblings, &r)
}

// rangesOf returns the parts of a reading that may be a range, and then make it one.
func rangesOf(r *text.Reading) []*text.Range {
	return []*text.Range{&r.Main, &r.Senior, &r.Total, &r.Net, &r.NetSenior}
}

// numbersOf returns all numbers of a reading.
func numbersOf(r *text.Reading) []text.Number {
	return []text.Number{r.Main.Point, r.Main.Lo, r.Main.Hi, r.Yield.Point, r.Yield.Lo, r.Yield.Hi, r.PIK, r.Margin, r.Fee, r.JLM, r.Cover, r.Tenor, r.Call,
		r.Senior.Point, r.Senior.Lo, r.Senior.Hi, r.Total.Point, r.Total.Lo, r.Total.Hi, r.Net.Point, r.Net.Lo, r.Net.Hi, r.NetSenior.Point, r.NetSenior.Lo, r.NetSenior.Hi,
		r.Issue.Point, r.Issue.Lo, r.Issue.Hi, r.BenchmarkTenor, r.Extended}
}

// checkStatus checks that the status is declared and fits the parts that are set.
func checkStatus(t *testing.T, parser lake.Parser, normal []byte, r *text.Reading) {
	t.Helper()
	status := string(r.Status)
	if !slices.Contains(lake.ParseStatuses(), status) {
		t.Fatalf("%s %q: got status %q", parser, normal, status)
	}
	anything := slices.ContainsFunc(numbersOf(r), func(n text.Number) bool { return n.Set }) || r.Date.Set || r.Year.Set || r.Month.Set || r.Instant.Set || r.Notch.Set
	flagged := r.CSA != text.Unknown || r.Perpetual != text.Unknown || r.WillNotGrow != text.Unknown ||
		r.Increase != text.Unknown || r.Equivalent != text.Unknown || r.Reconciled != text.Unknown || r.IncludesJLM != text.Unknown
	open := false
	for _, part := range rangesOf(r) {
		open = open || part.Lo.Set && part.Hi.Set && !part.Point.Set
	}
	var sound bool
	switch status {
	case lake.ParsedOK:
		sound = (anything || flagged) && !r.Yield.Lo.Set && !open
	case lake.ParsedRange:
		sound = open
	case lake.ParsedYield:
		sound = !r.Main.Lo.Set && !r.Main.Hi.Set && r.Yield.Lo.Set == (parser == lake.ParseEvolution)
	case lake.ParsedNoNumber:
		sound = !anything && !flagged
	default:
		sound = !anything && !flagged && r.Benchmark == nil && r.Currency == nil && r.Quality == nil
	}
	if !sound {
		t.Fatalf("%s %q: does not fit its status: %s", parser, normal, render(r))
	}
	if (r.Implied == text.Unknown) != (r.Currency == nil) {
		t.Fatalf("%s %q: currency and whether it is implied: %s", parser, normal, render(r))
	}
}

// checkRating checks that a rating has a grade exactly if it has a notch, that the text contains the grade, and that the
// composite of one rating is that rating.
func checkRating(t *testing.T, parser lake.Parser, normal []byte, r *text.Reading) {
	t.Helper()
	if (r.Grade == nil) != !r.Notch.Set || r.Grade == nil && (r.Outlook != nil || r.Watch != nil) {
		t.Fatalf("%s %q: parts of a rating without the rating: %s", parser, normal, render(r))
	}
	if r.Grade == nil {
		return
	}
	packed := strings.ReplaceAll(strings.ToLower(string(normal)), " ", "")
	composite := text.CompositeOf([3]text.Integer{{}, r.Notch, {}}, false, nil)
	if !strings.Contains(packed, strings.ToLower(string(r.Grade))) || composite.Notch != r.Notch || composite.Grade == nil {
		t.Fatalf("%s %q: the grade is not in the text, or is not on the scale: %s", parser, normal, render(r))
	}
}

// checkRange checks that lo ≤ point ≤ hi, and that a range with a point has both ends.
func checkRange(t *testing.T, parser lake.Parser, normal []byte, r *text.Range) {
	t.Helper()
	falls := func(a, b text.Number) bool { return a.Set && b.Set && b.Millionths.Less(a.Millionths) }
	if falls(r.Lo, r.Point) || falls(r.Point, r.Hi) || falls(r.Lo, r.Hi) {
		t.Fatalf("%s %q: out of order: %s", parser, normal, renderRange(r))
	}
	if r.Point.Set && (!r.Lo.Set || !r.Hi.Set) {
		t.Fatalf("%s %q: a point without both ends: %s", parser, normal, renderRange(r))
	}
}

var (
	numberText   = regexp.MustCompile(`[0-9]+(,[0-9]{3})*(\.[0-9]+)?`)
	digitsText   = regexp.MustCompile(`[0-9]+`)
	zeroText     = regexp.MustCompile(`(?i)flat|zero|nil|zc|\bno |\bat |\bon |in line|level`)
	fractionText = regexp.MustCompile(`([0-9]+)[ -]([0-9]+)/([0-9]+)`)
	percentText  = regexp.MustCompile(`\b([0-9]{1,3}),([0-9]{3})(?: ?(?:%|pct|percent|per cent|x|[-,;()/]|$|area|oid|a\b))`)
	groupsText   = regexp.MustCompile(`\b[0-9]{1,3}(?:\.[0-9]{3})+\b|\b[0-9]{1,3}(?: [0-9]{3})+`)
	zeroComma    = regexp.MustCompile(`\b0,([0-9]{1,6})`)
	commaText    = regexp.MustCompile(`([0-9]+),([0-9]{1,2})([^0-9]|$)`)
)

// checkJustified checks that every number of a reading is in the text, or follows from the text by a declared rule.
func checkJustified(t *testing.T, parser lake.Parser, normal []byte, siblings text.Siblings, r *text.Reading) {
	t.Helper()
	if s := string(r.Status); s != lake.ParsedOK && s != lake.ParsedRange && s != lake.ParsedYield {
		return // no numbers: checkStatus has checked that
	}
	sources := append(sourcesOf(normal), wordedSources(parser, normal)...)
	for _, n := range numbersOf(r) {
		if n.Set && !justified(rational(n), sources) {
			t.Fatalf("%s %q: the number %s is not in the text: %s", parser, normal, renderNumber(n), render(r))
		}
	}
	checkDay(t, parser, normal, r, sources)
	if r.Instant.Set {
		checkInstant(t, normal, siblings, r.Instant.Value)
	}
}

// checkDay checks that the text contains the day and the year, with or without its century, and the month as a number
// or a name.
func checkDay(t *testing.T, parser lake.Parser, normal []byte, r *text.Reading, sources []*big.Rat) {
	t.Helper()
	if !r.Year.Set {
		return
	}
	for _, s := range digitsText.FindAllString(string(normal), -1) { // 15.06.2031
		n, _ := new(big.Rat).SetString(s)
		sources = append(sources, n)
	}
	isSource := func(n int64) bool {
		return slices.ContainsFunc(sources, func(source *big.Rat) bool { return source.Cmp(big.NewRat(n, 1)) == 0 })
	}
	month := time.Month(r.Month.Value)
	sound := isSource(r.Year.Value) || isSource(r.Year.Value-2000)
	if !r.Month.Set { // a year, perhaps with a part of it
		if !sound {
			t.Fatalf("%s %q: the year is not in the text: %s", parser, normal, render(r))
		}
		return
	}
	sound = sound && (isSource(r.Month.Value) || strings.Contains(strings.ToLower(string(normal)), strings.ToLower(month.String()[:3])) || germanText.Match(normal))
	if r.Date.Set {
		day := time.Unix(86_400*r.Date.Value, 0).UTC()
		sound = sound && int64(day.Year()) == r.Year.Value && day.Month() == month && isSource(int64(day.Day()))
	}
	if !sound {
		t.Fatalf("%s %q: the date is not in the text: %s", parser, normal, render(r))
	}
}

// checkInstant reads the time of day again, on the given date, and compares.
func checkInstant(t *testing.T, normal []byte, siblings text.Siblings, got int64) {
	t.Helper()
	date := time.Unix(86_400*siblings.Day, 0).UTC()
	clock := strings.TrimPrefix(string(normal), "T")
	for _, layout := range []string{"15:04Z07:00", "15:04:05Z07:00"} {
		if at, err := time.Parse(layout, clock); err == nil {
			want := at.AddDate(date.Year(), int(date.Month())-1, date.Day()-1)
			if want.UnixMicro() != got {
				t.Fatalf("%q on %s: got %s, want %s", normal, date, time.UnixMicro(got).UTC(), want.UTC())
			}
			return
		}
	}
	t.Fatalf("%q on %s: got %s, want no instant", normal, date, time.UnixMicro(got).UTC())
}

func rational(n text.Number) *big.Rat {
	return new(big.Rat).SetFrac(n.Millionths.BigInt(), big.NewInt(1_000_000))
}

// sourcesOf returns the numbers that a text contains: as written, as fractions, and as words.
func sourcesOf(normal []byte) []*big.Rat {
	var sources []*big.Rat
	add := func(s string) *big.Rat {
		n, _ := new(big.Rat).SetString(s)
		sources = append(sources, n)
		return n
	}
	for _, s := range numberText.FindAll(normal, -1) {
		add(strings.ReplaceAll(string(s), ",", ""))
	}
	for _, m := range zeroComma.FindAllSubmatch(normal, -1) {
		add("0." + string(m[1]))
	}
	for _, s := range groupsText.FindAll(normal, -1) {
		add(strings.NewReplacer(".", "", " ", "").Replace(string(s)))
	}
	for _, m := range commaText.FindAllSubmatch(normal, -1) {
		add(string(m[1]) + "." + string(m[2]))
	}
	for _, m := range percentText.FindAllSubmatch(normal, -1) {
		add(string(m[1]) + "." + string(m[2]))
	}
	for _, m := range fractionText.FindAllSubmatch(normal, -1) {
		if part, ok := new(big.Rat).SetString(string(m[2]) + "/" + string(m[3])); ok {
			add(string(m[1])).Add(sources[len(sources)-1], part)
		}
	}
	if strings.Contains(strings.ToLower(string(normal)), "par") {
		add("100")
	}
	if zeroText.Match(normal) {
		add("0")
	}
	return sources
}

var (
	monthText  = regexp.MustCompile(`(?i)^[ -]?(months?|mths?|mos?|monate?n?|mois|m)\b`)
	germanText = regexp.MustCompile(`(?i)januar|februar|märz|mai|juni|juli|okt|dez`)
	timeText   = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	properText = regexp.MustCompile(`([1-9][0-9]?/[1-9][0-9]?)`)
	pointText  = regexp.MustCompile(`(?i)\b(oid|discount|off)\b`)
)

// wordedSources returns the numbers that follow from words: those spelled out, months as years in the order of the text, the year
// of a loan for 364 days, and par, from which a discount counts.
func wordedSources(parser lake.Parser, normal []byte) (sources []*big.Rat) {
	written := strings.ToLower(string(normal))
	sources = append(sources, spelledSources(written)...)
	if parser == lake.ParseMaturity || parser == lake.ParseStructure {
		for _, at := range timeText.FindAllStringIndex(written, -1) {
			n, _ := new(big.Rat).SetString(written[at[0]:at[1]])
			if monthText.MatchString(written[at[1]:]) {
				n.Quo(n, big.NewRat(12, 1))
			}
			sources = append(sources, n)
		}
		if strings.Contains(written, "364") || strings.Contains(written, "365") {
			sources = append(sources, big.NewRat(1, 1))
		}
	}
	if parser == lake.ParseOID && pointText.MatchString(written) {
		sources = append(sources, big.NewRat(100, 1))
	}
	if parser == lake.ParseOID && (strings.HasPrefix(written, "par") || pointText.MatchString(written)) { // par less 1/4, 1/2 pt OID
		for _, m := range properText.FindAllStringSubmatch(written, -1) {
			if n, ok := new(big.Rat).SetString(m[1]); ok {
				sources = append(sources, n)
			}
		}
	}
	return sources
}

// numberWords are words of numbers, and what each adds; hundred multiplies.
var numberWords = func() map[string]int64 {
	all := map[string]int64{}
	for i, word := range strings.Fields("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen") {
		all[word] = int64(i + 1)
	}
	for i, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		all[word] = int64(10 * (i + 2))
	}
	return all
}()

var (
	wordText = regexp.MustCompile(`[a-z]+`)
	partText = regexp.MustCompile(`half|quarter|eighth|[0-9]h\b`)
)

// spelledSources returns the numbers of words in a text, in lower case. If the text has a word for a part of one, each number of it may
// have eighths; a yard is one.
func spelledSources(written string) (sources []*big.Rat) {
	var whole []int64
	sum, open := int64(0), false
	for _, word := range append(wordText.FindAllString(written, -1), "") {
		switch value, known := numberWords[word]; {
		case known:
			sum, open = sum+value, true
			whole = append(whole, value)
		case word == "hundred":
			sum, open = 100*max(sum, 1), true
		case word == "a":
			whole = append(whole, 1)
		case word != "and" && open:
			whole = append(whole, sum)
			sum, open = 0, false
		}
	}
	for _, n := range whole {
		sources = append(sources, big.NewRat(n, 1))
	}
	if !partText.MatchString(written) {
		return sources
	}
	for _, s := range append(digitsText.FindAllString(written, -1), "0") {
		n, _ := new(big.Rat).SetString(s)
		sources = append(sources, n)
	}
	for _, n := range slices.Clone(sources) {
		for eighths := range int64(7) {
			sources = append(sources, new(big.Rat).Add(n, big.NewRat(eighths+1, 8)))
		}
	}
	return sources
}

// justified reports whether a number is one of the sources, with any sign, in any unit, converted from months to years or
// from basis points to percent, the sum or difference of two, also of one in percent and one in basis points, or the sum
// of consecutive ones.
func justified(n *big.Rat, sources []*big.Rat) bool {
	n = new(big.Rat).Abs(n)
	for i, source := range sources {
		for _, unit := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1_000, 1), big.NewRat(1e5, 1), big.NewRat(1e6, 1), big.NewRat(1e7, 1), big.NewRat(1e9, 1), big.NewRat(1e12, 1), big.NewRat(1, 12), big.NewRat(1, 100), big.NewRat(100, 1)} {
			if n.Cmp(new(big.Rat).Mul(source, unit)) == 0 {
				return true
			}
		}
		for _, other := range sources {
			for _, unit := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 100)} {
				by := new(big.Rat).Mul(other, unit)
				sum, difference := new(big.Rat).Add(source, by), new(big.Rat).Sub(source, by)
				if n.Cmp(sum) == 0 || n.Cmp(difference.Abs(difference)) == 0 {
					return true
				}
			}
		}
		for _, other := range sources { // 5.25-50: the end gives the decimals alone
			for _, unit := range []*big.Rat{big.NewRat(1, 100), big.NewRat(1, 1_000)} {
				integer := new(big.Rat).SetInt(new(big.Int).Quo(source.Num(), source.Denom()))
				if n.Cmp(integer.Add(integer, new(big.Rat).Mul(other, unit))) == 0 {
					return true
				}
			}
		}
		for n0 := int64(1); n0 <= 3; n0++ { // one to three options to extend
			for _, other := range sources {
				if by := new(big.Rat).Mul(other, big.NewRat(n0, 1)); n.Cmp(by.Add(by, source)) == 0 {
					return true
				}
			}
		}
		sum := new(big.Rat)
		for _, next := range sources[i:] {
			if sum.Add(sum, next); sum.Cmp(n) == 0 {
				return true
			}
		}
	}
	return false
}

// TestMarginUnits reads margins of all sizes that have no unit, and wants the reading that the definition allows: the number
// itself as basis points, or one hundred times a small number with digits after its point. With a unit each margin has one reading.
func TestMarginUnits(t *testing.T) {
	for quarters := range 4*50 + 1 {
		n := big.NewRat(int64(quarters), 4)
		for _, written := range []string{n.FloatString(2), strings.TrimSuffix(strings.TrimRight(n.FloatString(2), "0"), ".")} {
			pointed := strings.Contains(written, ".")
			r := parse(lake.ParseMargin, "E+"+written, text.Siblings{})
			hundredfold := new(big.Rat).Mul(n, big.NewRat(100, 1))
			switch status := string(r.Status); {
			case status == lake.ParsedAmbiguous && (pointed && quarters >= 20 && quarters <= 60 || !pointed && quarters < 40):
			case status == lake.ParsedOK && rational(r.Main.Point).Cmp(n) == 0 && (quarters == 0 || quarters > 60 || !pointed && quarters >= 40):
			case status == lake.ParsedOK && rational(r.Main.Point).Cmp(hundredfold) == 0 && pointed && quarters < 40:
			default:
				t.Errorf("E+%s: %s", written, render(&r))
			}
			for unit, want := range map[string]*big.Rat{"bp": n, "%": hundredfold} {
				if r := parse(lake.ParseMargin, "E+"+written+unit, text.Siblings{}); string(r.Status) != lake.ParsedOK || rational(r.Main.Point).Cmp(want) != 0 {
					t.Errorf("E+%s%s: %s", written, unit, render(&r))
				}
			}
		}
	}
}

// TestSizesWithAPoint reads sizes with three digits after a point, and wants none of them if they are plausible without the
// point, too. No spelling of thousands in the continental way is read as another number, and a comma before one or two digits
// is a decimal one.
func TestSizesWithAPoint(t *testing.T) {
	for _, whole := range []string{"1", "12", "99", "101", "500", "947"} {
		for unit, millions := range map[string]int64{"m": 1, "mn": 1, "bn": 1_000, "trn": 1_000_000} {
			for currency, most := range map[string]int64{"EUR": 100_000, "SEK": 100_000, "JPY": 1_000_000_000, "IDR": 1_000_000_000} {
				n, _ := new(big.Rat).SetString(whole + ".250")
				without := new(big.Rat).Mul(n, big.NewRat(1_000*millions, 1))
				r := parse(lake.ParseVolume, currency+whole+".250"+unit, text.Siblings{})
				read := new(big.Rat).Mul(n, big.NewRat(1_000_000*millions, 1))
				if tooLarge := new(big.Rat).Mul(n, big.NewRat(millions, 1)).Cmp(big.NewRat(most, 1)) > 0; tooLarge {
					if string(r.Status) != lake.ParsedNot {
						t.Errorf("%s%s.250%s: %s", currency, whole, unit, render(&r))
					}
					continue
				}
				if plausible := without.Cmp(big.NewRat(most, 1)) <= 0; plausible != (string(r.Status) == lake.ParsedAmbiguous) || !plausible && (string(r.Status) != lake.ParsedOK || rational(r.Main.Point).Cmp(read) != 0) {
					t.Errorf("%s%s.250%s: %s", currency, whole, unit, render(&r))
				}
			}
		}
	}
	for _, written := range []string{"EUR1.500,5m", "EUR1.500.000k", "EUR1.500.00", "EUR1.5.000.000", "EUR0.500.000", "EUR1.500,50", "EUR1,5,5bn", "EUR1,5.5bn", "EUR0,125bn"} {
		if r := parse(lake.ParseVolume, written, text.Siblings{}); string(r.Status) != lake.ParsedNot && string(r.Status) != lake.ParsedAmbiguous {
			t.Errorf("%s: %s", written, render(&r))
		}
	}
	for written, want := range map[string]string{"EUR1,5bn": "1500000000", "EUR1,50bn": "1500000000", "EUR2,25m-2,5m": "2250000..2500000", "EUR1,500m": "1500000000", "EUR1.500.000": "1500000", "EUR 500.000.000": "500000000", "NOK 1 500m": "1500000000", "NOK 1 500 000 000": "1500000000"} {
		if r := parse(lake.ParseVolume, written, text.Siblings{}); renderRange(&r.Main) != want {
			t.Errorf("%s: got %s, want %s", written, render(&r), want)
		}
	}
}

// TestShortEnds reads yields whose second number may give the decimals of the first one alone: 5.25-50%. The range as written is plausible if
// its ends differ by a factor of three and by two at most, and it does not fall by more than one. If both readings are plausible, or neither, or the end
// has passed the next integer, the text is ambiguous.
func TestShortEnds(t *testing.T) {
	for first := int64(200); first < 2_000; first += 5 {
		for decimals := int64(0); decimals < 100; decimals += 5 {
			lo, short, literal := big.NewRat(first, 100), big.NewRat(first/100*100+decimals, 100), big.NewRat(decimals, 1)
			written := lo.FloatString(2) + "-" + big.NewRat(decimals, 100).FloatString(2)[2:] + "%"
			want := []*big.Rat{lo, short}
			slices.SortFunc(want, (*big.Rat).Cmp)
			if short.Cmp(lo) <= 0 {
				want = []*big.Rat{lo, literal}
				slices.SortFunc(want, (*big.Rat).Cmp)
			}
			plausible := first <= 300*decimals && 100*decimals <= 3*first
			falls, wide := first-100*decimals > 100 && short.Cmp(lo) <= 0, 100*decimals-first > 200 && short.Cmp(lo) <= 0
			isAmbiguous := decimals < 10 || plausible == (short.Cmp(lo) > 0) || falls || wide
			r := parse(lake.ParseYield, written, text.Siblings{})
			if isAmbiguous != (string(r.Status) == lake.ParsedAmbiguous) || !isAmbiguous && (rational(r.Main.Lo).Cmp(want[0]) != 0 || rational(r.Main.Hi).Cmp(want[1]) != 0) {
				t.Errorf("%s: %s", written, render(&r))
			}
		}
	}
}
