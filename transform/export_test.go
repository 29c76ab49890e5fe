package transform

// WithoutParsing makes f leave the helper columns empty, to measure the cost of parsing texts.
func (f *Flattener) WithoutParsing() *Flattener {
	plan := *f.plan
	plan.derivations = make([][]derivation, len(plan.tables))
	plan.parserVersions = make([]int, len(plan.tables))
	for t := range plan.parserVersions {
		plan.parserVersions[t] = -1
	}
	f.plan = &plan
	return f
}
