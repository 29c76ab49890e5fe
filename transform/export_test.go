package transform

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
