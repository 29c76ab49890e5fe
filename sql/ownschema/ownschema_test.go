package ownschema

import "testing"

// TestStatements checks what a macro's body names afterwards: entries of the layout, and nothing in texts, quoted names
// and comments. A macro that another one names is in the schema, and the one outside calls it. A view of main is there
// with its own body, also one that shares its name with a macro.
func TestStatements(t *testing.T) {
	const layout = `-- A table; it isn't read from outside.
CREATE TABLE _dealflow.held (x INTEGER);
CREATE TABLE _dealflow.runs (x INTEGER);
CREATE VIEW runs AS FROM _dealflow.runs;
CREATE MACRO main.runs(n) AS TABLE FROM main.runs;
CREATE VIEW history.deals AS FROM _dealflow.held;
CREATE MACRO _dealflow.twice(x) AS 2 * x;
CREATE MACRO main.some("from", n := least(1, 2), texts := ['a,b', ')']) AS TABLE FROM _dealflow.held;
CREATE MACRO main.none() AS TABLE FROM main.some(1);
CREATE MACRO main.again() AS TABLE FROM main.none();
-- A macro; with a comment.
CREATE MACRO main.all_of(t) AS TABLE -- it's main.runs
SELECT h.x, 'main.runs; ' || "main.runs", _dealflow.twice(h.x) FROM _dealflow.held h JOIN main.runs r JOIN history.deals JOIN main.other;
COMMENT ON MACRO TABLE main.all_of IS 'CREATE MACRO main.none AS 1;'`
	got := Statements(layout, "lake_1")
	const body = `(t) AS TABLE -- it's main.runs
SELECT h.x, 'main.runs; ' || "main.runs", "lake_1"."_twice"(h.x) FROM "lake_1"."_held" h JOIN "lake_1"."runs" r JOIN "lake_1"."history_deals" JOIN main.other;
`
	want := `CREATE SCHEMA "lake_1";
CREATE VIEW "lake_1"."_held" AS FROM _dealflow.held;
CREATE VIEW "lake_1"."_runs" AS FROM _dealflow.runs;
CREATE VIEW "lake_1"."history_deals" AS FROM history.deals;
CREATE MACRO "lake_1"."runs"(n) AS TABLE SELECT 1;
CREATE OR REPLACE MACRO main.runs(n) AS TABLE FROM "lake_1"."runs"(n);
CREATE MACRO "lake_1"."_twice"(x) AS NULL;
CREATE OR REPLACE MACRO _dealflow.twice(x) AS "lake_1"."_twice"(x);
CREATE MACRO "lake_1"."some"("from", n := least(1, 2), texts := ['a,b', ')']) AS TABLE SELECT 1;
CREATE OR REPLACE MACRO main.some("from", n := least(1, 2), texts := ['a,b', ')']) AS TABLE FROM "lake_1"."some"("from", n := n, texts := texts);
CREATE MACRO "lake_1"."none"() AS TABLE SELECT 1;
CREATE OR REPLACE MACRO main.none() AS TABLE FROM "lake_1"."none"();
CREATE VIEW "lake_1"."runs" AS FROM "lake_1"."_runs";
CREATE OR REPLACE MACRO "lake_1"."runs"(n) AS TABLE FROM "lake_1"."runs";
CREATE OR REPLACE MACRO "lake_1"."_twice"(x) AS 2 * x;
CREATE OR REPLACE MACRO "lake_1"."some"("from", n := least(1, 2), texts := ['a,b', ')']) AS TABLE FROM "lake_1"."_held";
CREATE OR REPLACE MACRO "lake_1"."none"() AS TABLE FROM "lake_1"."some"(1);
CREATE OR REPLACE MACRO main.again() AS TABLE FROM "lake_1"."none"();
CREATE OR REPLACE MACRO main.all_of` + body + `COMMENT ON MACRO TABLE main.all_of IS 'CREATE MACRO main.none AS 1;';
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
