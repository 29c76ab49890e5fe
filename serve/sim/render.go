package sim

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"dealflow/schemas/api"
)

// render returns a deal's JSON object as it is now.
func (m *Market) render(d *deal) []byte {
	var record any
	switch {
	case d.feed.Service == api.Bond && d.feed.Kind == api.Priced:
		record = m.renderBondPriced(d)
	case d.feed.Service == api.Bond:
		record = m.renderBondExpected(d)
	case d.feed.Kind == api.Priced:
		record = m.renderLoanPriced(d)
	default:
		record = m.renderLoanExpected(d)
	}
	body, err := api.EncodeRecord(nil, record)
	if err != nil {
		panic(fmt.Sprintf("sim: deal %s: %v", d.self(), err)) // a record that cannot be encoded is a bug in this package
	}
	return m.breakDocument(body, d)
}

// misfits replace a value by one that its documented type does not allow. Each of these members is in many records. A
// record without the member stays as it is.
var misfits = []struct {
	member *regexp.Regexp
	value  string
}{
	{regexp.MustCompile(`"fpr":[^,}]+`), `"fpr":"n/a"`},
	{regexp.MustCompile(`"green":(true|false)`), `"green":"no"`},
	{regexp.MustCompile(`"covered":(true|false)`), `"covered":0`},
	{regexp.MustCompile(`"market":"`), `"market":"x`},
	{regexp.MustCompile(`"banks":\[\{`), `"banks":[null,{`},
	{regexp.MustCompile(`"tenor":[^,}]+`), `"tenor":7.5`},
	{regexp.MustCompile(`"gcp":(true|false)`), `"gcp":"false"`},
	{regexp.MustCompile(`"created":"20`), `"created":"2`},
	{regexp.MustCompile(`"regions":\[[^\]]*\]`), `"regions":{}`},
	{regexp.MustCompile(`"name":"([^"\\]|\\.)*"`), `"name":17`},
}

// breakDocument adds the quirks that schemas/api/openapi.yaml does not allow, by their rates.
func (m *Market) breakDocument(body []byte, d *deal) []byte {
	r, q := stream(d.seed, tagMisfit), m.config.Quirks
	misfit, which := r.chance(q.Misfit), misfits[r.IntN(len(misfits))]
	unknown, field := r.chance(q.UnknownField), pick(r, `"settlementDate":"2026-01-02"`, `"esg":{"score":7.25,"by":["x"]}`, `"":null`, `"dealID":1`)
	enum := r.chance(q.UnknownEnum)
	if misfit {
		if at := which.member.FindIndex(body); at != nil {
			body = slices.Concat(body[:at[0]], []byte(which.value), body[at[1]:])
		}
	}
	if enum {
		body = bytes.Replace(body, []byte(`"ORIGINAL"`), []byte(`"REOPENING"`), 1)
		body = bytes.Replace(body, []byte(`"status":"EXPECTED"`), []byte(`"status":"ON_HOLD"`), 1)
	}
	if unknown {
		body = append(body[:len(body)-1], ","+field+"}"...)
	}
	return body
}
