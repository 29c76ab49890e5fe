package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

// Row maps each column of a table to its value: string, int64, bool or nil. A DECIMAL is text in full scale
// ("99.500000"), a DATE "2006-01-02", a TIMESTAMP UTC "2006-01-02T15:04:05.000000Z".
type Row map[string]any

// Rows returns the rows of one deal in every table of its feed, in the order of their ordinals: table name → rows. A
// table of the feed without rows has an empty entry. The caller owns the result.
func (o *Oracle) Rows(feed api.Feed, baseURL string, payload []byte) (map[string][]Row, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	record, err := decode(payload)
	if err != nil {
		return nil, err
	}
	id, ok := fitInteger(record[feed.IDKey()], 64).(int64)
	if !ok {
		return nil, fmt.Errorf("deal has no usable id: %s is absent or no 64-bit integer", feed.IDKey())
	}
	result := map[string][]Row{}
	for _, t := range o.tables {
		if strings.HasPrefix(t.Name, string(feed.Service)+"_"+string(feed.Kind)+"_") {
			w := walk{table: t, key: Row{"market": string(feed.Market), "deal_id": id}, base: base, rows: []Row{}}
			w.visit(record, t.lists, nil)
			result[t.Name] = w.rows
		}
	}
	if len(result) == 0 {
		return nil, fmt.Errorf("no table for feed %s", feed)
	}
	return result, nil
}

// walk collects one table's rows of one deal.
type walk struct {
	table Table
	key   Row // market and deal_id, the same in every row
	base  base
	rows  []Row
}

// visit adds the rows under one value: the value's own if no lists are left to enter, else those of each entry of the
// next list. If the value is not the expected list, there are no rows.
func (w *walk) visit(value any, lists []string, ordinals []int64) {
	if len(lists) == 0 {
		w.add(entry{value: value}, ordinals)
		return
	}
	found := lookUp(value, lists[0])
	if w.table.isMap && len(lists) == 1 {
		members, _ := found.(map[string]any)
		for i, name := range slices.Sorted(maps.Keys(members)) { // Go orders strings by their bytes
			w.add(entry{key: name, value: members[name]}, append(slices.Clone(ordinals), int64(i+1)))
		}
		return
	}
	list, _ := found.([]any)
	for i, item := range list {
		w.visit(item, lists[1:], append(slices.Clone(ordinals), int64(i+1)))
	}
}

func (w *walk) add(e entry, ordinals []int64) {
	row := maps.Clone(w.key)
	for i, name := range w.table.ordinals {
		row[name] = ordinals[i]
	}
	for _, c := range w.table.Columns {
		if c.From != "" {
			row[c.Name] = c.fit(c.read(e, w.base))
		}
	}
	w.rows = append(w.rows, row)
}

// entry is the source of one row: a record, a list's entry, or a map's key and value.
type entry struct {
	key   string
	value any
}

// reader reads a column's JSON value from an entry.
type reader func(e entry, b base) any

// readerOf parses the `from` of a column.
func readerOf(from string) reader {
	if path, ok := strings.CutSuffix(from, " (number at the end of its path)"); ok {
		return func(e entry, b base) any {
			href, _ := lookUp(e.value, path).(string)
			return numberAtEnd(b.relative(href))
		}
	}
	switch {
	case from == "the key":
		return func(e entry, _ base) any { return e.key }
	case from == "the value" || from == "the entry":
		return func(e entry, _ base) any { return e.value }
	case strings.HasSuffix(from, ".href"):
		return func(e entry, b base) any {
			if href, ok := lookUp(e.value, from).(string); ok {
				return b.relative(href)
			}
			return nil
		}
	}
	return func(e entry, _ base) any { return lookUp(e.value, from) }
}

// lookUp follows a dotted path through objects. It returns nil if the path does not exist.
func lookUp(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}
