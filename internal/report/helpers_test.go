package report

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// sample is data in which each row type occurs, with text in every field that is one.
func sample(text string) *Data {
	d := &Data{}
	fill(reflect.ValueOf(d).Elem(), text)
	d.State.ObservedAt = time.Date(2026, 3, 4, 22, 0, 0, 0, time.UTC)
	d.Pipeline = []PipelineAge{{"bond", "IG", 0, 3}, {"loan", "AF", 4, 2}}
	d.Volume = []Volume{{"2026-02", "bond", "IG", 5, 1, 7.5e9}, {"2026-03", "loan", "CF", 2, 0, 1.25e9}}
	d.Execution = []Execution{{"2026-02", "IG", 5, 4, new(12.5), 3, new(2.25)}, {"2026-03", "HY", 2, 0, nil, 0, nil}}
	d.Maturities = []Maturity{{new(int64(2031)), "bond", "EM", 2, 3e9, 1}, {new(int64(2126)), "loan", "LL", 1, 1e9, 0}, {nil, "loan", "LL", 1, 0, 1}}
	d.Coverage[0].Texts, d.Coverage[0].OK = 40, 20
	d.Queries = []Query{{"feeds", text}}
	return d
}

// fill sets every field of a value: texts to the text, numbers to 7, slices to one element.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	default:
		panic(fmt.Sprintf("no value for a %s", v.Type()))
	}
}

func write(t *testing.T, d *Data) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// nodes gives all nodes of a page.
func nodes(t *testing.T, page string) (all []*html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		all = append(all, n)
	}
	return all
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
