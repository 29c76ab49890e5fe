package transform

import (
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// WithoutParsing makes f leave the helper columns empty, to measure the cost of parsing texts.
func (f *Flattener) WithoutParsing() *Flattener {
	plan := *f.plan
	plan.helpers = make([]helperPlan, len(plan.tables))
	for t := range plan.helpers {
		plan.helpers[t].version = -1
	}
	f.plan = &plan
	return f
}

// WithFault makes the parsers of f fail on a text.
func (f *Flattener) WithFault(on string) *Flattener {
	plan := *f.plan
	plan.helpers = slices.Clone(plan.helpers)
	for t := range plan.helpers {
		plan.helpers[t].derivations = slices.Clone(plan.helpers[t].derivations)
		for i := range plan.helpers[t].derivations {
			d := &plan.helpers[t].derivations[i]
			parse := d.parse
			d.parse = func(texts []byte, siblings text.Siblings, r *text.Reading) {
				if parse(texts, siblings, r); string(texts) == on {
					*r = text.Reading{Status: []byte(lake.ParsedNot), Failed: true}
				}
			}
		}
	}
	f.plan = &plan
	return f
}
