package grid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PointerDiff returns what differs between two JSON texts: a JSON pointer with the value of each, as it is written. A value that
// one of them lacks is empty there. Entries of lists are compared by their place, numbers by their digits.
func PointerDiff(was, is string) ([]Edit, error) {
	before, err := decoded(was)
	if err != nil {
		return nil, err
	}
	after, err := decoded(is)
	if err != nil {
		return nil, err
	}
	var found []Edit
	err = pointerDiff("", &before, &after, &found)
	return found, err
}

// decoded reads a JSON text. Its numbers stay as they are written.
func decoded(text string) (value any, err error) {
	from := json.NewDecoder(strings.NewReader(text))
	from.UseNumber()
	err = from.Decode(&value)
	return value, err
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointerDiff adds the differences of two values at a pointer; nil for a value that is not there.
func pointerDiff(at string, was, is *any, found *[]Edit) error {
	if was != nil && is != nil {
		before, isObject := (*was).(map[string]any)
		after, still := (*is).(map[string]any)
		if isObject && still {
			return objectDiff(at, before, after, found)
		}
		list, isList := (*was).([]any)
		later, stillList := (*is).([]any)
		if isList && stillList {
			for i := range max(len(list), len(later)) {
				if err := pointerDiff(fmt.Sprintf("%s/%d", at, i), entry(list, i), entry(later, i), found); err != nil {
					return err
				}
			}
			return nil
		}
	}
	e := Edit{Name: at}
	var err error
	if e.Was, err = written(was); err != nil {
		return err
	}
	if e.Is, err = written(is); err == nil && e.Was != e.Is {
		*found = append(*found, e)
	}
	return err
}

func objectDiff(at string, was, is map[string]any, found *[]Edit) error {
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, ok := was[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var before, after *any
		if v, ok := was[name]; ok {
			before = &v
		}
		if v, ok := is[name]; ok {
			after = &v
		}
		if err := pointerDiff(at+"/"+escapePointer.Replace(name), before, after, found); err != nil {
			return err
		}
	}
	return nil
}

func entry(list []any, i int) *any {
	if i < len(list) {
		return &list[i]
	}
	return nil
}

// written returns a value as JSON; "" for none.
func written(value *any) (string, error) {
	if value == nil {
		return "", nil
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(*value)
	return strings.TrimSpace(out.String()), err
}
