package verify_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/verify"
	"dealflow/transform"
)

// TestDamagedLakes damages sound lakes as testdata/damaged says, one damage at a time. verify finds each under the
// checks that the damage names and under no others.
func TestDamagedLakes(t *testing.T) {
	t.Parallel()
	lakes := map[string]store.Store{"short": world.ShortLake(t).Store}
	lakes["long"] = longLake(t).Store
	for _, s := range lakes {
		world.WantSound(t, s)
	}
	paths, err := filepath.Glob(testkit.Root(t) + "/testdata/damaged/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no damages: %v", err)
	}
	seen := map[verify.Check]bool{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			parts := map[string]string{}
			for _, part := range archive.Files {
				parts[part.Name] = string(part.Data)
			}
			damage := &world.Damager{TB: t}
			for line := range strings.Lines(parts["damage"]) {
				words := strings.Fields(line)
				if words[0] == "lake" {
					damage.Store = world.CopyStore(t, lakes[words[1]], new(memstore.Mem))
					continue
				}
				damage.Do(line)
			}
			wantFindings(t, damage.Store, verify.Config{}, parts["found without reading"], seen)
			wantFindings(t, damage.Store, verify.Config{ReadData: true, ContentHash: transform.ContentHash}, parts["found"], seen)
		})
	}
	for _, check := range verify.Checks() {
		// These lakes have neither a catalog nor Iceberg tables: internal/catalog and load/iceberg damage them.
		if !seen[check] && !slices.Contains([]verify.Check{verify.Catalog, verify.Tables, verify.TablesMoved}, check) {
			t.Errorf("no damage is found by %s", check)
		}
	}
}

// wantFindings verifies a lake. want has a line for each check with findings, followed by a part of the finding's text.
// Lines of notes begin with "note".
func wantFindings(t *testing.T, s store.Store, cfg verify.Config, want string, seen map[verify.Check]bool) {
	t.Helper()
	report, err := verify.Lake(t.Context(), s, cfg)
	if report == nil {
		t.Fatal(err)
	}
	damage := false
	wanted := map[verify.Check]bool{}
	for line := range strings.Lines(want) {
		check, says, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "note ")), " ")
		damage = damage || !strings.HasPrefix(line, "note ")
		wanted[verify.Check(check)] = true
		if !slices.ContainsFunc(report.Findings, func(f verify.Finding) bool {
			return string(f.Check) == check && (f.Severity == verify.Note) == strings.HasPrefix(line, "note ") && strings.Contains(world.FindingText(f), says)
		}) {
			t.Errorf("reading data: %t: no %s says %q", cfg.ReadData, check, says)
		}
	}
	if errors.Is(err, verify.ErrDamage) != damage || damage != (report.Damage > 0) {
		t.Errorf("reading data: %t: got %v, %d damages; want damage: %t", cfg.ReadData, err, report.Damage, damage)
	}
	for _, f := range report.Findings {
		seen[f.Check] = true
		if !wanted[f.Check] || t.Failed() {
			t.Errorf("reading data: %t: %s", cfg.ReadData, world.FindingText(f))
		}
		if f.Todo == "" || f.Path == "" {
			t.Errorf("%s says not where, or not what to do", world.FindingText(f))
		}
	}
}

// longLake returns a lake of 51 commits, and so with a checkpoint at 50: a night, syncs, and the compaction that these
// cause.
func longLake(t testing.TB) *world.World {
	t.Helper()
	w, b := world.NewBook(t)
	one := world.Feeds(world.Expected)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, one, world.Quiet)
	for n := 0; w.Log(t).Number < 51; n++ {
		w.Later(5 * time.Minute)
		b.Write(world.Expected, 1, fmt.Sprintf(`"message":"%d"`, n))
		w.MustSync(t, one, world.Quiet)
	}
	return w
}
