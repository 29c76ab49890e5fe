package text_test

import (
	"fmt"
	"strings"
	"time"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// parse normalises a text and reads it.
func parse(parser lake.Parser, raw string, siblings text.Siblings) text.Reading {
	var r text.Reading
	normal, _ := text.Normalise(nil, []byte(raw))
	text.Parser(parser)(normal, siblings, &r)
	return r
}

// render returns a reading as one line: the status, then the other parts that are set. A flag appears only if it is
// Yes.
func render(r *text.Reading) string {
	parts := []string{string(r.Status)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	add("stage", string(r.Stage))
	add("benchmark", string(r.Benchmark))
	add("reference", strings.ReplaceAll(string(r.Reference), " ", "_"))
	add("csa", raised(r.CSA))
	add("main", renderRange(&r.Main))
	add("yield", renderRange(&r.Yield))
	for _, n := range []struct {
		name string
		n    text.Number
	}{
		{"pik", r.PIK}, {"margin", r.Margin}, {"fee", r.Fee}, {"jlm", r.JLM}, {"cover", r.Cover}, {"tenor", r.Tenor},
		{"call", r.Call},
	} {
		add(n.name, renderNumber(n.n))
	}
	add("senior", renderRange(&r.Senior))
	add("total", renderRange(&r.Total))
	add("tenor_quality", string(r.Length))
	add("perpetual", raised(r.Perpetual))
	add("rate_type", string(r.RateType))
	add("form", string(r.Form))
	add("will_not_grow", raised(r.WillNotGrow))
	add("currency", string(r.Currency))
	add("implied", raised(r.Implied))
	add("quality", string(r.Quality))
	add("index", string(r.Index))
	add("benchmark_tenor", renderNumber(r.BenchmarkTenor))
	add("basis", string(r.Basis))
	add("measure", string(r.Measure))
	add("rank", string(r.Rank))
	add("label", string(r.Label))
	add("issue", renderRange(&r.Issue))
	add("extended", renderNumber(r.Extended))
	add("net", renderRange(&r.Net))
	add("net_senior", renderRange(&r.NetSenior))
	add("increase", raised(r.Increase))
	add("equivalent", raised(r.Equivalent))
	add("reconciled", yesOrNo(r.Reconciled))
	add("includes_jlm", yesOrNo(r.IncludesJLM))
	add("grade", string(r.Grade))
	add("notch", renderInteger(r.Notch))
	add("outlook", string(r.Outlook))
	add("watch", string(r.Watch))
	if r.Date.Set {
		add("date", time.Unix(86_400*r.Date.Value, 0).UTC().Format(time.DateOnly))
	}
	add("year", renderInteger(r.Year))
	add("month", renderInteger(r.Month))
	if r.Instant.Set {
		add("instant", time.UnixMicro(r.Instant.Value).UTC().Format(time.RFC3339Nano))
	}
	return strings.Join(parts, " ")
}

func raised(f text.Flag) string {
	if f == text.Yes {
		return "yes"
	}
	return ""
}

func yesOrNo(f text.Flag) string { return [...]string{"", "no", "yes"}[f] }

func renderNumber(n text.Number) string {
	if !n.Set {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(n.Millionths.ToString(6), "0"), ".")
}

func renderInteger(n text.Integer) string {
	if !n.Set {
		return ""
	}
	return fmt.Sprint(n.Value)
}

// renderRange returns lo..hi, lo..point..hi, or only the point if all three are equal.
func renderRange(r *text.Range) string {
	lo, point, hi := renderNumber(r.Lo), renderNumber(r.Point), renderNumber(r.Hi)
	switch {
	case lo == point && point == hi:
		return point
	case point == "":
		return lo + ".." + hi
	}
	return lo + ".." + point + ".." + hi
}
