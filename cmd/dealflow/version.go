package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"dealflow/schemas/lake"
	"dealflow/sql"
)

// releaseVersion is set at build time: -ldflags "-X main.releaseVersion=v1.2.3".
var releaseVersion = ""

// version returns the release, or else the version in the build information.
func version() string {
	if releaseVersion != "" {
		return releaseVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of the program, and of the formats that it reads and writes",
		Example: "  dealflow version\n  dealflow version --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVersion(cmd.Context(), a) },
	}
}

func runVersion(ctx context.Context, a *app) error {
	engine, err := sql.EngineVersion(ctx)
	if err != nil {
		return err
	}
	v := struct {
		Version       string `json:"version"`
		Go            string `json:"go"`
		DuckDB        string `json:"duckdb"`
		LakeFormat    int    `json:"lake_format"`
		SchemaVersion int    `json:"schema_version"`
	}{version(), runtime.Version(), engine, lake.FormatVersion, lake.SchemaVersion}
	if a.settings.json {
		return printJSON(a.Stdout, v)
	}
	_, err = fmt.Fprintf(a.Stdout, "dealflow %s (%s, DuckDB %s, lake format %d, schema version %d)\n", v.Version, v.Go, v.DuckDB, v.LakeFormat, v.SchemaVersion)
	return err
}
