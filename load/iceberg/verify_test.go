package iceberg_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/parquet"
	"dealflow/load/store/storetest"
	"dealflow/load/transfer"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

const banks = lake.IcebergPrefix + "current/bond_priced_banks/metadata/"

// removedNights has deals that are removed, reappear and change, and tables that continued from one night to the next.
func removedNights(t *testing.T) (*world.World, *world.Book) {
	t.Helper()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 12, `"message":"A","banks":[{"name":"one"},{"name":"two"}]`)
	b.WriteAll(world.Expected, 1, 3, "")
	night(t, w, b, 0)
	turn(t, w, on)
	for day := 1; day <= 3; day++ {
		night(t, w, b, day)
	}
	return w, b
}

// TestVerify has verify find nothing in tables that are sound, and each damage to them: an object that is gone, cut or
// changed, names that disagree, and rows that history has in other places.
func TestVerify(t *testing.T) {
	t.Parallel()
	w, _ := removedNights(t)
	world.WantSound(t, w.Store)
	find := func(part string) string {
		t.Helper()
		i := slices.IndexFunc(world.Keys(t, w.Store), func(key string) bool {
			return strings.HasPrefix(key, lake.IcebergPrefix) && strings.Contains(key, part)
		})
		if i < 0 {
			t.Fatalf("no object with %s in its key", part)
		}
		return world.Keys(t, w.Store)[i]
	}
	published, err := iceberg.ReadPublished(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	version := banks + "v4.metadata.json"
	const newer = "a newer program wrote them" // a note, no damage
	l := w.Lake(t)
	for name, c := range map[string]struct {
		key, old, replacement string // "" for old: the object goes
		want                  string
		always                bool // found without reading data
	}{
		"a delete file is gone":          {find("bond_priced_banks/3-rows-"), "", "", "got 0 bytes", true},
		"a delete file of other bytes":   {find("bond_priced_banks/3-rows-"), "PAR1", "PAR2", "in the object's name", false},
		"a manifest of other bytes":      {find("bond_priced_banks/3-closed-"), "Obj", "Obk", "in the object's name", false},
		"a manifest list that was cut":   {find("bond_priced_banks/2-snap-"), "Obj", "", "bytes, want", true},
		"metadata with another instant":  {version, `"timestamp-ms":1`, `"timestamp-ms":2`, "the metadata is not what the state", true},
		"metadata is gone":               {version, "", "", "published metadata", true},
		"a hint of no version":           {banks + "version-hint.text", "4", "9", `got "9"`, true},
		"no hint":                        {banks + "version-hint.text", "", "", banks + "version-hint.text", true},
		"the state is gone":              {published.State, "", "", published.State, true},
		"published for another commit":   {iceberg.PublishedKey, published.SHA256[:12], "000000000000", "SHA-256 000000000000", true},
		"published for no commit":        {iceberg.PublishedKey, fmt.Sprintf(`"commit":%d`, published.Number), `"commit":0`, "commit 0, which the lake does not have", true},
		"published that cannot be read":  {iceberg.PublishedKey, "{", "[", iceberg.PublishedKey, true},
		"published by a newer program":   {iceberg.PublishedKey, `"format_version":1`, `"format_version":2,"tables":"elsewhere"`, newer, true},
		"a table that is not published":  {iceberg.PublishedKey, `"bond_priced_banks"`, `"bond_priced_bonks"`, "the table is not published", true},
		"a lower hint is an earlier one": {banks + "version-hint.text", "4", "3", "", true},
	} {
		before := storetest.Bytes(t, w.Store, c.key)
		if c.old == "" {
			storetest.Remove(t, w.Store, c.key)
		} else {
			after := strings.Replace(string(before), c.old, c.replacement, 1)
			if after == string(before) {
				t.Fatalf("%s: %s does not have %q", name, c.key, c.old)
			}
			storetest.Overwrite(t, w.Store, c.key, []byte(after))
		}
		for _, read := range []bool{true, false} {
			faults, err := iceberg.Verify(t.Context(), l, memory.DefaultAllocator, read)
			found := slices.ContainsFunc(faults, func(f iceberg.Fault) bool {
				return strings.Contains(f.Key+" "+f.Detail, c.want) && f.Note == (c.want == newer)
			})
			if want := c.want != "" && (read || c.always); err != nil || found != want || len(faults) > 0 != want {
				t.Errorf("%s, data read %t: got %+v, %v; want a fault: %t", name, read, faults, err, want)
			}
		}
		storetest.Overwrite(t, w.Store, c.key, before)
	}

	metadata := storetest.Bytes(t, w.Store, version)
	storetest.Remove(t, w.Store, version)
	report, err := verify.Lake(t.Context(), w.Store, verify.Config{})
	if !errors.Is(err, verify.ErrDamage) || report.Damage != 1 || report.Findings[0].Check != verify.Tables || report.Findings[0].Path != version {
		t.Errorf("metadata is gone: %v, %+v", err, report)
	}
	storetest.Overwrite(t, w.Store, version, metadata)

	packed := storetest.Bytes(t, w.Store, published.State)
	state, err := parquet.Decompress(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	later, err := parquet.Compress(regexp.MustCompile(`"format_version":\d+`).ReplaceAll(state, []byte(`"format_version":99`)))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, w.Store, published.State, later)
	report, err = verify.Lake(t.Context(), w.Store, verify.Config{ReadData: true})
	if err != nil || report.Notes != 1 || report.Findings[0].Check != verify.NotChecked || !strings.Contains(report.Findings[0].Detail, newer) {
		t.Errorf("the state of a newer program: %v, %+v; want a note", err, report)
	}
	storetest.Overwrite(t, w.Store, published.State, packed)

	// Rows of a file that change places, in a lake whose commits do not say so.
	commits := map[string][]byte{}
	for _, key := range world.Keys(t, w.Store) {
		if strings.HasPrefix(key, lake.CommitsPrefix) || key == lake.LatestKey {
			commits[key] = storetest.Bytes(t, w.Store, key)
		}
	}
	damager := &world.Damager{TB: t, Store: w.Store}
	damager.Do("rows history.bond_priced_banks/IG@1 swap 3 24")
	for key, data := range commits {
		storetest.Overwrite(t, w.Store, key, data)
	}
	if faults, err := iceberg.Verify(t.Context(), l, memory.DefaultAllocator, true); err != nil || len(faults) == 0 || !strings.Contains(faults[0].Detail, "deleted row") {
		t.Errorf("rows in other places: got %+v, %v; want the deleted row that history says", faults, err)
	}
}

// TestCopyPublishes copies a lake: the copy publishes its tables if the source does, for files at its own place. In a copy
// that another program made, verify notes that they are those of another place.
func TestCopyPublishes(t *testing.T) {
	t.Parallel()
	w, _ := removedNights(t)
	turn(t, w, func(s *iceberg.Settings) { s.KeepAll = true })
	source := w.Store
	moved := world.CopyStore(t, source, world.Folder(t, filepath.Join(t.TempDir(), "moved")))
	report, err := verify.Lake(t.Context(), moved, verify.Config{})
	if err != nil || report.Notes != 1 || report.Findings[0].Check != verify.TablesMoved {
		t.Errorf("a lake that was moved: %v, %+v; want a note", err, report)
	}
	target := world.Folder(t, filepath.Join(t.TempDir(), "copy"))
	follow := func() (on bool) {
		t.Helper()
		if _, err := transfer.Copy(t.Context(), transfer.Config{From: source, To: target, Memory: memory.DefaultAllocator}); err != nil {
			t.Fatal(err)
		}
		l, err := load.Open(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		result, err := iceberg.Follow(t.Context(), l, iceberg.Config{Clock: w.Clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		return result != nil
	}
	if !follow() {
		t.Error("the copy of a lake with tables has none")
	}
	_, settings, err := iceberg.IsOn(t.Context(), w.Lake(t))
	if err != nil || !settings.KeepAll {
		t.Errorf("the copy's settings are %+v, %v; want those of the source", settings, err)
	}
	world.WantSound(t, target)
	turn(t, w, off)
	if follow() {
		t.Error("the copy publishes, but the source no longer does")
	}
	if keys := world.Keys(t, target); slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, "version-hint.text") }) {
		t.Error("the copy still has tables")
	}
}

// TestFork loses the newest commits of a lake, and has other commits take their numbers: the tables are those of the
// commits that the lake has, under names that were not used before.
func TestFork(t *testing.T) {
	t.Parallel()
	w, b := removedNights(t)
	objects := func() map[string]string {
		found := map[string]string{}
		for _, key := range world.Keys(t, w.Store) {
			if strings.HasPrefix(key, lake.IcebergPrefix) && strings.Contains(key, "-") && !strings.HasSuffix(key, "version-hint.text") {
				found[key] = string(storetest.Bytes(t, w.Store, key))
			}
		}
		return found
	}
	before, lost := objects(), w.Log(t).Newest()
	for _, n := range []int64{lost.Number, lost.Number - 1} {
		storetest.Remove(t, w.Store, lake.CommitKey(n))
	}
	for day := range int64(2) { // the newest lost number is free after the first, and taken after the second
		w.Later(48 * time.Hour)
		b.Write(world.Priced, 5, fmt.Sprintf(`"message":"another history %d","banks":[{"name":"other"}]`, day))
		if _, err := w.Run(t, world.Feeds(world.Priced, world.Expected), world.Quiet, func(c *pull.Config) { c.AcceptLost = day == 0 }); err != nil {
			t.Fatal(err)
		}
		if number := w.Log(t).Number; number != lost.Number-1+day {
			t.Fatalf("commit %d after the loss of %d", number, lost.Number)
		}
		if p, err := iceberg.ReadPublished(t.Context(), w.Store); err != nil || p.SHA256 != w.Log(t).SHA256 {
			t.Fatalf("%+v, %v is published, want commit %s", p, err, w.Log(t).Newest())
		}
	}
	world.WantSound(t, w.Store)
	for key, data := range objects() {
		if old, had := before[key]; had && old != data {
			t.Errorf("%s has got other bytes", key)
		}
	}
	for _, s := range newRead(t, w.Store).table(iceberg.Tables()[0]).Snapshots {
		if strings.HasPrefix(lost.SHA256, s.Summary["dealflow.sha256"]) {
			t.Errorf("snapshot %d names the lost commit", s.ID)
		}
	}
}
