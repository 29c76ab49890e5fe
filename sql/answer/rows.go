package answer

import (
	"bufio"
	"context"
	stdsql "database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/marcboeker/go-duckdb/v2"
)

// Rows is the result of a query. It writes each value as exact text. The caller closes it. It is not safe for
// concurrent use.
type Rows struct {
	rows    *stdsql.Rows
	names   []string
	types   []string // DuckDB's names of the columns' types
	current []any
	read    int64
	err     error
}

// Query runs one statement. args are the values of its parameters.
func Query(ctx context.Context, db *stdsql.DB, statement string, args ...any) (*Rows, error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	r := &Rows{rows: rows, current: make([]any, len(types))}
	for _, t := range types {
		r.names = append(r.names, t.Name())
		r.types = append(r.types, t.DatabaseTypeName())
	}
	return r, nil
}

// Columns returns the columns' names. The caller owns the slice.
func (r *Rows) Columns() []string { return append([]string(nil), r.names...) }

// Type returns DuckDB's name of a column's type, such as DECIMAL(18,2).
func (r *Rows) Type(column int) string { return r.types[column] }

// Numeric reports whether a column contains numbers.
func (r *Rows) Numeric(column int) bool {
	for _, prefix := range []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U", "FLOAT", "DOUBLE", "DECIMAL"} {
		if strings.HasPrefix(r.types[column], prefix) && r.types[column] != "UUID" {
			return true
		}
	}
	return false
}

// Next moves to the next row. It returns false at the end or on an error; Err says which.
func (r *Rows) Next() bool {
	if r.err != nil || !r.rows.Next() {
		return false
	}
	targets := make([]any, len(r.current))
	for i := range targets {
		targets[i] = &r.current[i]
	}
	r.err = r.rows.Scan(targets...)
	r.read++
	return r.err == nil
}

// Read returns the number of rows that Next has moved to.
func (r *Rows) Read() int64 { return r.read }

// Err is the error that ended Next, or nil.
func (r *Rows) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.Err()
}

// Close ends the query.
func (r *Rows) Close() error { return r.rows.Close() }

// Texts returns the current row as texts; NULL is "". The caller owns the slice.
func (r *Rows) Texts() []string {
	texts := make([]string, len(r.current))
	for i, value := range r.current {
		texts[i] = text(value, r.types[i])
	}
	return texts
}

// Null reports whether a column of the current row is NULL.
func (r *Rows) Null(column int) bool { return r.current[column] == nil }

// WriteCSV writes a heading and all remaining rows as RFC 4180 CSV with LF. NULL is an empty field, the empty text is "".
// Binary values are \x and hexadecimal digits. PostgreSQL's COPY … (FORMAT csv, HEADER) reads that as it is.
func (r *Rows) WriteCSV(out io.Writer) error {
	w := bufio.NewWriter(out)
	for i, name := range r.names {
		writeField(w, i, name)
	}
	for r.Next() {
		_ = w.WriteByte('\n') // Flush returns the first error of the writer
		for i, value := range r.current {
			switch v := value.(type) {
			case nil:
				if i > 0 {
					_ = w.WriteByte(',')
				}
			case []byte:
				writeField(w, i, `\x`+hex.EncodeToString(v))
			default:
				writeField(w, i, text(value, r.types[i]))
			}
		}
	}
	_ = w.WriteByte('\n')
	return errors.Join(w.Flush(), r.Err())
}

// writeField writes a field of CSV that is not NULL. `\.` alone would end the data for older versions of PostgreSQL.
func writeField(w *bufio.Writer, column int, field string) {
	if column > 0 {
		_ = w.WriteByte(',')
	}
	if field == "" || field == `\.` || strings.ContainsAny(field, ",\"\r\n") || strings.TrimSpace(field) != field {
		field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
	}
	_, _ = w.WriteString(field)
}

// WriteJSON writes all remaining rows as one array of objects, columns in order. Decimals are numbers with all digits,
// instants RFC 3339, binary values base64. What JSON has no numbers for are texts: "NaN", "Infinity".
func (r *Rows) WriteJSON(out io.Writer) error {
	separator, end := "[\n", "[]\n"
	for r.Next() {
		if err := r.writeObject(out, separator, ""); err != nil {
			return err
		}
		separator, end = ",\n", "\n]\n"
	}
	if err := r.Err(); err != nil {
		return err
	}
	_, err := io.WriteString(out, end)
	return err
}

// WriteNDJSON writes each remaining row as one line: an object as in WriteJSON.
func (r *Rows) WriteNDJSON(out io.Writer) error {
	for r.Next() {
		if err := r.writeObject(out, "", "\n"); err != nil {
			return err
		}
	}
	return r.Err()
}

// writeObject writes the current row as an object.
func (r *Rows) writeObject(out io.Writer, before, after string) error {
	var row strings.Builder
	row.WriteString(before + "{")
	for i, value := range r.current {
		if i > 0 {
			row.WriteByte(',')
		}
		name, err := json.Marshal(r.names[i])
		if err != nil {
			return err
		}
		cell, err := json.Marshal(jsonValue(value, r.types[i]))
		if err != nil {
			return fmt.Errorf("column %s: %w", r.names[i], err)
		}
		row.Write(name)
		row.WriteByte(':')
		row.Write(cell)
	}
	row.WriteString("}" + after)
	_, err := io.WriteString(out, row.String())
	return err
}

// text formats a value for people.
func text(value any, typ string) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return fmt.Sprintf("%x", v)
	case float64, float32:
		if name := noNumber(v); name != "" {
			return name
		}
	case time.Time:
		if endless := infinityText(v, typ); endless != "" {
			return endless
		}
		switch {
		case typ == "DATE":
			return v.Format(time.DateOnly)
		case strings.HasPrefix(typ, "TIMESTAMPTZ"), strings.Contains(typ, "WITH TIME ZONE"):
			return v.UTC().Format("2006-01-02T15:04:05.999999Z")
		case typ == "TIME":
			return v.Format("15:04:05.999999")
		}
		return v.Format("2006-01-02T15:04:05.999999")
	case duckdb.Decimal:
		return decimalText(v)
	case duckdb.Interval:
		return intervalText(v)
	case []any, map[string]any, duckdb.Map:
		data, err := json.Marshal(jsonValue(v, typ))
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(data)
	}
	return fmt.Sprint(value)
}

// jsonValue converts a value to one that encoding/json writes exactly.
func jsonValue(value any, typ string) any {
	switch v := value.(type) {
	case time.Time, duckdb.Interval:
		return text(v, typ)
	case float64, float32:
		if name := noNumber(v); name != "" {
			return name
		}
	case duckdb.Decimal:
		return json.Number(decimalText(v))
	case *big.Int:
		return json.Number(v.String())
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []any:
		list, element := make([]any, len(v)), elementType(typ)
		for i := range v {
			list[i] = jsonValue(v[i], element)
		}
		return list
	case map[string]any:
		object, types := make(map[string]any, len(v)), memberTypes(typ)
		for k := range v {
			object[k] = jsonValue(v[k], types[k])
		}
		return object
	case duckdb.Map:
		object := make(map[string]any, len(v))
		ofKey, ofElement := mapTypes(typ)
		for k, element := range v {
			object[text(k, ofKey)] = jsonValue(element, ofElement)
		}
		return object
	}
	return value
}

// noNumber returns PostgreSQL's name of a DOUBLE or FLOAT that is no number; "" for one that is, and for other values.
func noNumber(value any) string {
	var v float64
	switch f := value.(type) {
	case float64:
		v = f
	case float32:
		v = float64(f)
	}
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return ""
}

// infinityText returns infinity or -infinity for such an instant or day, which DuckDB has as the greatest and the least number of
// microseconds or days; "" for another one.
func infinityText(v time.Time, typ string) string {
	n, most := v.UnixMicro(), int64(math.MaxInt64)
	if typ == "DATE" {
		n, most = v.Unix()/(24*60*60), math.MaxInt32
	}
	switch n {
	case most:
		return "infinity"
	case -most:
		return "-infinity"
	}
	return ""
}

// intervalText writes an interval as DuckDB does: 1 year 2 months 3 days 04:05:06.5.
func intervalText(v duckdb.Interval) string {
	var parts []string
	for _, part := range []struct {
		n    int32
		unit string
	}{{v.Months / 12, "year"}, {v.Months % 12, "month"}, {v.Days, "day"}} {
		switch part.n {
		case 0:
		case 1, -1:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.unit))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.unit))
		}
	}
	if v.Micros != 0 || len(parts) == 0 {
		sign, micros := "", uint64(v.Micros)
		if v.Micros < 0 {
			sign, micros = "-", -micros
		}
		seconds := micros / 1e6
		clock := fmt.Sprintf("%s%02d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
		if rest := micros % 1e6; rest != 0 {
			clock += strings.TrimRight(fmt.Sprintf(".%06d", rest), "0")
		}
		parts = append(parts, clock)
	}
	return strings.Join(parts, " ")
}

// decimalText writes a decimal with all digits of its scale.
func decimalText(d duckdb.Decimal) string {
	if d.Scale == 0 {
		return d.Value.String()
	}
	digits := new(big.Int).Abs(d.Value).String()
	if missing := int(d.Scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(d.Scale)
	sign := ""
	if d.Value.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:point] + "." + digits[point:]
}
