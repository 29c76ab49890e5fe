package safesql

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Refusal is the error for a statement that the syntax gate does not allow.
type Refusal struct {
	Reason string
	At     int // byte of the statement that the reason is about; -1 if it is not known
}

func (r *Refusal) Error() string { return r.Reason }

func refuse(node map[string]any, format string, args ...any) *Refusal {
	r := &Refusal{Reason: fmt.Sprintf(format, args...), At: -1}
	if at, ok := node["query_location"].(float64); ok && at < 1<<31 {
		r.At = int(at)
	}
	return r
}

// names are the tables and table macros that a statement may read: those in main by their own name, and all by their name with
// the schema. They are in lower case.
type names struct{ tables, macros map[string]bool }

// openSchemas are the schemas that a statement may read.
var openSchemas = []string{"main", "history", "snapshots", "information_schema"}

// informationTables are the tables of information_schema that a statement may read.
var informationTables = []string{"columns", "tables", "schemata"}

// openFunctions are the table functions of DuckDB that a statement may call. They read no file, and of the engine only what the
// catalog declares. (duckdb_views and duckdb_tables are not among them: the text of a view has the paths of files. Nor are histogram
// and histogram_values: they read the table that a text names.)
var openFunctions = []string{"duckdb_columns", "duckdb_functions", "duckdb_keywords", "duckdb_types", "generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest", "pg_timezone_names", "icu_calendar_names"}

// closedFunctions are the functions of DuckDB in expressions that a statement may not call: they write to the log, read
// variables and settings, or run, plan or show other statements.
var closedFunctions = []string{"write_log", "json_serialize_plan", "json_execute_serialized_sql", "getenv", "getvariable", "current_setting", "pg_get_viewdef", "stats", "nextval", "currval"}

// openClasses are the kinds of expressions that a statement may have.
var openClasses = []string{
	"BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "DEFAULT", "FUNCTION", "LAMBDA",
	"LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "WINDOW",
}

// openNodes are the other kinds of nodes that a statement may have: queries, what a FROM clause has, what comes after a query.
var openNodes = []string{
	"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE",
	"BASE_TABLE", "TABLE_FUNCTION", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST", "PIVOT", "SHOW_REF",
	"ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER",
	"ORDER_DEFAULT", "ASCENDING", "DESCENDING",
}

const advice = "`dealflow query` without --safe runs it"

// only is what a statement must be.
const only = "only one SELECT (or FROM, VALUES, WITH, DESCRIBE, SUMMARIZE) is allowed"

// syntax is a statement as json_serialize_sql returns it.
type syntax struct {
	Error      bool   `json:"error"`
	ErrorType  string `json:"error_type"`
	Message    string `json:"error_message"`
	Position   string `json:"position"`
	Statements []struct {
		Node map[string]any `json:"node"`
	} `json:"statements"`
}

// check is the syntax gate: it returns a *Refusal for a statement that does more than read what known has. serialized is the
// statement's tree.
func check(serialized string, known names) error {
	root, err := parse(serialized)
	if err != nil {
		return err
	}
	return (&gate{known}).visit(root, nil)
}

// parse returns the root of the only statement's tree.
func parse(serialized string) (map[string]any, error) {
	var s syntax
	if err := json.Unmarshal([]byte(serialized), &s); err != nil {
		if strings.Contains(serialized, "Infinity") { // which is no JSON: DuckDB has made it of a number such as 1e400
			return nil, &Refusal{Reason: "a number of the statement is beyond the range of DOUBLE; write 'infinity'::DOUBLE", At: -1}
		}
		return nil, fmt.Errorf("the tree of the statement: %w", err)
	}
	switch {
	case s.Error && s.ErrorType == "parser":
		at, err := strconv.Atoi(s.Position)
		if err != nil {
			at = -1
		}
		return nil, &Refusal{Reason: "Parser Error: " + s.Message, At: at}
	case s.Error && strings.HasPrefix(s.Message, "Only SELECT"):
		return nil, &Refusal{Reason: only + ", and no statement that writes, sets, attaches, explains or pivots; " + advice, At: -1}
	case s.Error:
		return nil, &Refusal{Reason: s.Message, At: -1}
	case len(s.Statements) != 1:
		return nil, &Refusal{Reason: fmt.Sprintf("the text has %d statements: %s", len(s.Statements), only), At: -1}
	}
	return s.Statements[0].Node, nil
}

// gate checks the nodes of a tree.
type gate struct{ known names }

// visit checks a node and all below it. with has the names of the WITH clauses around it.
func (g *gate) visit(value any, with map[string]bool) error {
	if list, ok := value.([]any); ok {
		for _, element := range list {
			if err := g.visit(element, with); err != nil {
				return err
			}
		}
		return nil
	}
	node, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	if err := g.checkNode(node, with); err != nil {
		return err
	}
	with, err := g.visitWith(node, with)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(node)) {
		switch {
		case name == "cte_map", node["type"] == "CTE_NODE" && name == "query": // visitWith has checked them
		case name == "function" && node["type"] == "TABLE_FUNCTION":
			call, _ := node[name].(map[string]any)
			err = g.visit(call["children"], with) // checkNode has checked the name
		default:
			err = g.visit(node[name], with)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visitWith checks the queries of a node's WITH clause, and returns the names that the rest of the node may use. Each query sees
// those before it, and a recursive one itself.
func (g *gate) visitWith(node map[string]any, with map[string]bool) (map[string]bool, error) {
	outer, _ := node["cte_map"].(map[string]any)
	entries, _ := outer["map"].([]any)
	if len(entries) == 0 {
		if node["type"] == "CTE_NODE" { // its query would be in no map
			return nil, refuse(node, "the check of statements cannot read this WITH clause; "+advice)
		}
		return with, nil
	}
	with = maps.Clone(with)
	if with == nil {
		with = map[string]bool{}
	}
	for _, element := range entries {
		entry, _ := element.(map[string]any)
		name, _ := entry["key"].(string)
		value, _ := entry["value"].(map[string]any)
		query, _ := value["query"].(map[string]any)
		body, ok := query["node"].(map[string]any)
		if name == "" || !ok {
			return nil, refuse(node, "the check of statements cannot read this WITH clause; "+advice)
		}
		inside := with
		if body["type"] == "RECURSIVE_CTE_NODE" {
			inside = maps.Clone(with)
			inside[strings.ToLower(name)] = true
		}
		if err := g.visit(entry["value"], inside); err != nil {
			return nil, err
		}
		with[strings.ToLower(name)] = true
	}
	return with, nil
}

// checkNode checks a node without what is below it.
func (g *gate) checkNode(node map[string]any, with map[string]bool) error {
	kind, _ := node["type"].(string)
	if class, ok := node["class"].(string); ok {
		switch {
		case class == "PARAMETER":
			return refuse(node, "the statement has a parameter, and nothing gives it a value")
		case !slices.Contains(openClasses, class):
			return refuse(node, "expressions of the kind %s are not allowed; %s", class, advice)
		case class == "FUNCTION" || class == "WINDOW":
			return checkFunction(node)
		}
		return nil
	}
	switch {
	case kind == "" || strings.HasSuffix(kind, "_TYPE_INFO"): // a part of another node; a part of a type
		return nil
	case !slices.Contains(openNodes, kind):
		return refuse(node, "queries with %s are not allowed; %s", kind, advice)
	case kind == "BASE_TABLE":
		return g.checkTable(node, with)
	case kind == "TABLE_FUNCTION":
		return g.checkTableFunction(node)
	case kind == "SHOW_REF" && node["query"] == nil:
		return refuse(node, "SHOW is not allowed; FROM information_schema.tables lists the tables")
	}
	return nil
}

// checkTable checks a name in a FROM clause.
func (g *gate) checkTable(node map[string]any, with map[string]bool) error {
	name, schema := lower(node["table_name"]), lower(node["schema_name"])
	full := name
	if schema != "" {
		full = schema + "." + name
	}
	switch {
	case lower(node["catalog_name"]) != "":
		return refuse(node, "%s.%s: a name of a catalog is not allowed", lower(node["catalog_name"]), full)
	case node["at_clause"] != nil:
		return refuse(node, "%s: AT is not allowed; the macros …_as_of(t) return what was known at an instant", full)
	case schema == "" && with[name], g.known.tables[full]:
		return nil
	case schema != "" && !slices.Contains(openSchemas, schema):
		return refuse(node, "%s: the schema %s is not open; open are %s", full, schema, strings.Join(openSchemas, ", "))
	}
	return refuse(node, "%s: no such table; FROM information_schema.tables lists them, and files cannot be read by name", full)
}

// checkTableFunction checks the name of a function in a FROM clause.
func (g *gate) checkTableFunction(node map[string]any) error {
	call, _ := node["function"].(map[string]any)
	name, schema := lower(call["function_name"]), lower(call["schema"])
	switch {
	case call["class"] != "FUNCTION" || name == "":
		return refuse(node, "the check of statements cannot read this function; %s", advice)
	case lower(call["catalog"]) != "" || schema != "" && schema != "main":
		return refuse(call, "%s: a function of another schema than main is not allowed", name)
	case g.known.macros[name], slices.Contains(openFunctions, name):
		return nil
	}
	return refuse(call, "%s: the function is not open in FROM; open are the analyses, the macros …_as_of(t), %s", name, strings.Join(openFunctions, ", "))
}

// checkFunction checks a function in an expression.
func checkFunction(node map[string]any) error {
	name, schema := lower(node["function_name"]), lower(node["schema"])
	switch {
	case lower(node["catalog"]) != "" || schema != "" && schema != "main":
		return refuse(node, "%s: a function of another schema than main is not allowed", name)
	case slices.Contains(closedFunctions, name):
		return refuse(node, "%s: the function is not open", name)
	}
	return nil
}

// lower returns a text of a tree in lower case; "" for any other value.
func lower(value any) string {
	text, _ := value.(string)
	return strings.ToLower(text)
}

// isBounded says whether a query limits its own rows, or cannot be limited.
func isBounded(root map[string]any) bool {
	modifiers, _ := root["modifiers"].([]any)
	for _, element := range modifiers {
		if m, _ := element.(map[string]any); strings.HasPrefix(lower(m["type"]), "limit") {
			return true
		}
	}
	from, _ := root["from_table"].(map[string]any)
	return from["type"] == "SHOW_REF"
}
