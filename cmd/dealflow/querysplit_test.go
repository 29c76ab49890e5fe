package main

import (
	"slices"
	"testing"
)

// TestSplitStatements splits at the semicolons that are outside texts, names and comments, as DuckDB reads them.
func TestSplitStatements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"SELECT 1":           {"SELECT 1"},
		"SELECT 1;SELECT 2;": {"SELECT 1", "SELECT 2", ""},
		"SELECT ';', \";\" -- ;\n;SELECT /* ; */ 2": {"SELECT ';', \";\" -- ;\n", "SELECT /* ; */ 2"},
		"SELECT 'it''s;';SELECT 2":                  {"SELECT 'it''s;'", "SELECT 2"},
		"SELECT $$;$$;SELECT 2":                     {"SELECT $$;$$", "SELECT 2"},
		"SELECT $a$;$$;$a$;SELECT 2":                {"SELECT $a$;$$;$a$", "SELECT 2"},
		`SELECT E'\';' ; SELECT 2`:                  {`SELECT E'\';' `, " SELECT 2"},
		`SELECT name LIKE'%\';SELECT 2`:             {`SELECT name LIKE'%\'`, "SELECT 2"},
		"SELECT $1;SELECT 2":                        {"SELECT $1", "SELECT 2"},
	} {
		if got := splitStatements(text); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
