package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/schemas/lake"
	"dealflow/sql/engine"
)

// What the build says of itself: -ldflags "-X main.releaseVersion=0.1.0 -X main.releaseRevision=<commit>[-dirty] -X
// main.releaseTime=<seconds since 1970 of that commit>". A build without them, such as by `go build`, takes revision and
// time from the build information, if Go has put them there.
var (
	releaseVersion  = "0.1.0-dev"
	releaseRevision = ""
	releaseTime     = ""
)

// modified ends the revision of a build from a tree that differs from its commit.
const modified = "-dirty"

// revision returns the commit from which the program was built; "" if it is not known.
func revision() string {
	if releaseRevision != "" {
		return releaseRevision
	}
	found := buildSetting("vcs.revision")
	if found != "" && buildSetting("vcs.modified") == "true" {
		found += modified
	}
	return found
}

// revisionTime returns the instant of that commit; zero if it is not known.
func revisionTime() time.Time {
	if seconds, err := strconv.ParseInt(releaseTime, 10, 64); err == nil {
		return time.Unix(seconds, 0).UTC()
	}
	at, err := time.Parse(time.RFC3339, buildSetting("vcs.time"))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// version returns the version as it is in each commit: that of the release, and after "+" the beginning of the revision
// (build metadata of semantic versions), such as 0.1.0+4f2a90c1d3e4.
func version() string {
	commit, dirty := strings.CutSuffix(revision(), modified)
	if commit == "" {
		return releaseVersion
	}
	text := releaseVersion + "+" + commit[:min(12, len(commit))]
	if dirty {
		text += ".dirty"
	}
	return text
}

// isAmbiguous says whether builds of other code have the same version: those of an edited tree, or without a revision.
func isAmbiguous() bool {
	commit, dirty := strings.CutSuffix(revision(), modified)
	return commit == "" || dirty
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
	duckdb, err := engine.Version(ctx)
	if err != nil {
		return err
	}
	v := struct {
		Version       string `json:"version"`
		Go            string `json:"go"`
		DuckDB        string `json:"duckdb"`
		LakeFormat    int    `json:"lake_format"`
		SchemaVersion int    `json:"schema_version"`
		Revision      string `json:"revision"` // commit of the source, with -dirty if the source differed from it; "" if not known
	}{version(), runtime.Version(), duckdb, lake.FormatVersion, lake.SchemaVersion, revision()}
	if a.settings.json {
		return printJSON(a.Stdout, v)
	}
	_, err = fmt.Fprintf(a.Stdout, "dealflow %s (%s, DuckDB %s, lake format %d, schema version %d)\n", v.Version, v.Go, v.DuckDB, v.LakeFormat, v.SchemaVersion)
	return err
}
