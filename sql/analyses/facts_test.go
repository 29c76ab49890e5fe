package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/marcboeker/go-duckdb/v2"

	"dealflow/internal/testkit/oracle"
	"dealflow/sql/quote"
)

// fact is a row of a table or of an answer: its values by column. A value is nil, a text (days as 2006-01-02, instants
// as the oracle spells them, lists joined by commas), a bool, an int64 or an exact *big.Rat. In an expected answer it
// can be a float64, which matches within 1e-9 and a rounding to 6 digits.
type fact map[string]any

const instantForm = "2006-01-02T15:04:05.000000Z"

// text is a column's text; "" for NULL.
func (f fact) text(column string) string {
	text, _ := f[column].(string)
	return text
}

// rat is a column's number; nil for NULL.
func (f fact) rat(column string) *big.Rat { return ratOf(f[column]) }

// is reports whether a column is true; NULL is not.
func (f fact) is(column string) bool { return f[column] == true }

// with returns a copy with more columns.
func (f fact) with(more fact) fact {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// only returns a copy with some of the columns.
func (f fact) only(columns ...string) fact {
	some := fact{}
	for _, c := range columns {
		some[c] = f[c]
	}
	return some
}

// key identifies a row by some columns, for maps.
func (f fact) key(columns ...string) string {
	var key strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&key, "%s|", spell(f[c]))
	}
	return key.String()
}

func ratOf(value any) *big.Rat {
	switch v := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case *big.Rat:
		return v
	}
	return nil
}

// orNil converts a nil number to a nil interface, which equals NULL.
func orNil(r *big.Rat) any {
	if r == nil {
		return nil
	}
	return r
}

// textOrNil converts "" to nil.
func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// near is a number that the answer contains as DOUBLE.
func near(r *big.Rat) any {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	return f
}

func count(n int) int64 { return int64(n) }

// ratio is 100 × or 1 × a part of a total, as DOUBLE; NULL if the total is 0.
func ratio(times int64, part, whole *big.Rat) any {
	if whole.Sign() == 0 {
		return nil
	}
	quotient := new(big.Rat).Quo(part, whole)
	return near(quotient.Mul(quotient, big.NewRat(times, 1)))
}

func ratioOf(times int64, part, whole int) any {
	return ratio(times, big.NewRat(int64(part), 1), big.NewRat(int64(whole), 1))
}

func sum(numbers ...*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, r := range numbers {
		total.Add(total, r)
	}
	return total
}

// middle is the mean of two numbers; nil if one is missing.
func middle(lo, hi *big.Rat) *big.Rat {
	if lo == nil || hi == nil {
		return nil
	}
	return new(big.Rat).Quo(sum(lo, hi), big.NewRat(2, 1))
}

// less is a difference; nil if one number is missing.
func less(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Sub(a, b)
}

func mean(numbers []*big.Rat) any {
	if len(numbers) == 0 {
		return nil
	}
	return ratio(1, sum(numbers...), big.NewRat(int64(len(numbers)), 1))
}

func median(numbers []*big.Rat) any {
	if len(numbers) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(numbers), (*big.Rat).Cmp)
	return near(middle(sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]))
}

// typed converts a row in the oracle's spelling to a fact: its decimals become numbers.
func typed(row oracle.Row, table oracle.Table) fact {
	f := fact{}
	for _, c := range table.Columns {
		f[c.Name] = row[c.Name]
		if text, ok := row[c.Name].(string); ok && strings.HasPrefix(c.Type, "DECIMAL") {
			number, ok := new(big.Rat).SetString(text)
			if !ok {
				panic(fmt.Sprintf("%s.%s is %q", table.Name, c.Name, text))
			}
			f[c.Name] = number
		}
	}
	return f
}

// factsOf reads the rows of a result.
func factsOf(t testing.TB, db *stdsql.DB, question string) (all []fact, columns []string) {
	t.Helper()
	statement, argument := quote.Once(question)
	rows, err := db.QueryContext(t.Context(), statement, argument)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	values, places := make([]any, len(types)), make([]any, len(types))
	for i, typ := range types {
		columns = append(columns, typ.Name())
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		f := fact{}
		for i, typ := range types {
			f[columns[i]] = plain(values[i], typ.DatabaseTypeName())
		}
		all = append(all, f)
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", question, rows.Err())
	}
	return all, columns
}

// plain converts a value of the driver to a value of a fact.
func plain(value any, typ string) any {
	switch v := value.(type) {
	case int8:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case *big.Int:
		return new(big.Rat).SetInt(v)
	case duckdb.Decimal:
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)
		return new(big.Rat).SetFrac(v.Value, scale)
	case time.Time:
		if typ == "DATE" {
			return v.Format(time.DateOnly)
		}
		return v.UTC().Format(instantForm)
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(texts, ",")
	}
	return value
}

// agrees reports whether a value in an answer is the expected one.
func agrees(got, want any) bool {
	if double, ok := want.(float64); ok {
		given, ok := doubleOf(got)
		return ok && math.Abs(given-double) <= 1e-9*math.Abs(double)+1e-6
	}
	exact, number := ratOf(want), ratOf(got)
	if exact == nil || number == nil {
		return exact == nil && number == nil && got == want
	}
	return exact.Cmp(number) == 0
}

func doubleOf(value any) (double float64, ok bool) {
	if exact := ratOf(value); exact != nil {
		double, _ = exact.Float64()
		return double, true
	}
	double, ok = value.(float64)
	return double, ok
}

func spell(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case int64:
		return fmt.Sprint(v)
	case *big.Rat:
		if v.IsInt() {
			return v.Num().String()
		}
		return v.FloatString(12)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(value)
}

// differences compares two sets of rows and describes the first differences. A row is identified by the columns of a
// key. Rows with equal keys are compared in the order of all their values.
func differences(got, want []fact, key []string) (lines []string) {
	byKey := func(rows []fact) map[string][]fact {
		all := map[string][]fact{}
		for _, f := range rows {
			all[f.key(key...)] = append(all[f.key(key...)], f)
		}
		for _, rows := range all {
			slices.SortFunc(rows, func(a, b fact) int { return strings.Compare(a.all(), b.all()) })
		}
		return all
	}
	has, wants := byKey(got), byKey(want)
	for _, name := range slices.Sorted(maps.Keys(union(has, wants))) {
		g, w := has[name], wants[name]
		if len(g) != len(w) {
			lines = append(lines, fmt.Sprintf("%s %d rows, want %d\n    got %v\n    want %v", name, len(g), len(w), g, w))
			continue
		}
		for i := range w {
			for _, column := range slices.Sorted(maps.Keys(w[i])) {
				if !agrees(g[i][column], w[i][column]) {
					lines = append(lines, fmt.Sprintf("%s %s: got %s, want %s", name, column, spell(g[i][column]), spell(w[i][column])))
				}
			}
		}
	}
	return lines
}

// all formats a complete row.
func (f fact) all() string { return f.key(slices.Sorted(maps.Keys(f))...) }

func union[V any](a, b map[string]V) map[string]V {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}
