package sql

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed report/*.sql
var reportStatements embed.FS

// ReportQuery returns a statement of report/ by the name of its file, without .sql. It reads the public names of a
// catalog as of the instant in the variable as_of (TIMESTAMPTZ). The caller sets that variable on its connection.
func ReportQuery(name string) (string, error) {
	text, err := reportStatements.ReadFile("report/" + name + ".sql")
	if err != nil {
		return "", fmt.Errorf("report: no query %q: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}
