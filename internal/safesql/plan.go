package safesql

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// planned are the properties of an operator that a plan shows, in this order. The numbers of rows and of files are not among
// them: they are guesses from the lake's files, which also have what became known after the instant of a catalog.
var planned = []string{"Table", "Function", "CTE Name", "Join Type", "Conditions", "Filters", "Expression", "Expressions", "Groups", "Aggregates", "Order By", "Top", "Limit", "Projections"}

// operator is an operator of a plan, as EXPLAIN with FORMAT json returns it. A property has one text or a list.
type operator struct {
	Name     string                     `json:"name"`
	Children []operator                 `json:"children"`
	Extra    map[string]json.RawMessage `json:"extra_info"`
}

// explaining is what the engine is asked before a statement in parentheses, for its plan.
const explaining = "EXPLAIN (FORMAT json) SELECT * FROM "

// explain writes how a statement would be run: an operator a line, below it its properties and, further in, the operators that
// it reads. The statement is not run. It is in parentheses, so that none of its words is an option of EXPLAIN.
func explain(ctx context.Context, db *stdsql.DB, statement string, out io.Writer) error {
	var kind, tree string
	if err := db.QueryRowContext(ctx, explaining+inParentheses(statement)).Scan(&kind, &tree); err != nil {
		return err
	}
	var roots []operator
	if err := json.Unmarshal([]byte(tree), &roots); err != nil {
		return fmt.Errorf("the plan of the statement: %w", err)
	}
	var text strings.Builder
	for i := range roots {
		roots[i].write(&text, "")
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (o *operator) write(to *strings.Builder, indent string) {
	fmt.Fprintf(to, "%s%s\n", indent, strings.TrimSpace(o.Name))
	for _, name := range planned {
		raw, ok := o.Extra[name]
		if !ok {
			continue
		}
		var one string
		var all []string
		if json.Unmarshal(raw, &one) == nil {
			all = []string{one}
		} else if json.Unmarshal(raw, &all) != nil {
			continue // of another form in a later engine
		}
		all = slices.DeleteFunc(all, func(text string) bool { return text == "" })
		if len(all) > 0 {
			fmt.Fprintf(to, "%s    %s: %s\n", indent, strings.ToLower(name), strings.Join(all, ", "))
		}
	}
	for i := range o.Children {
		o.Children[i].write(to, indent+"  ")
	}
}
