package verify_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/parquet"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestVerifyLongLog verifies a lake whose log is in segments: sound, with each kind of damage to a segment, and with a
// commit that only a segment still has.
func TestVerifyLongLog(t *testing.T) {
	t.Parallel()
	const last = 3*runs.Size + 1
	sound := loadtest.LongYears(t, last)
	if err := loadtest.Open(t, sound).WriteDerived(t.Context(), map[api.Feed]lake.Latest{}); err != nil {
		t.Fatal(err)
	}
	key, other := lake.SegmentKey(runs.Size), lake.SegmentKey(2*runs.Size)
	checkpoint := lake.CheckpointKey(last)
	damages := map[string]struct {
		do   func(s store.Store)
		want []string // check and path
	}{
		"sound":          {do: func(store.Store) {}},
		"segment absent": {func(s store.Store) { storetest.Remove(t, s, key) }, []string{"checkpoint " + key}},
		"segments swapped": {func(s store.Store) {
			storetest.Overwrite(t, s, key, storetest.Bytes(t, sound, other))
			storetest.Overwrite(t, s, other, storetest.Bytes(t, sound, key))
		}, []string{"checkpoint " + key, "checkpoint " + other}},
		"commit lost": {func(s store.Store) { storetest.Remove(t, s, lake.CommitKey(17)) }, []string{"log-numbers " + lake.CommitKey(17)}},
		"commit and its segment lost": {func(s store.Store) {
			storetest.Remove(t, s, lake.CommitKey(17))
			storetest.Remove(t, s, key)
		}, []string{"checkpoint " + checkpoint, "log-numbers " + lake.CommitKey(17)}},
		"commit of another history": {func(s store.Store) {
			data := strings.Replace(string(storetest.Bytes(t, s, lake.CommitKey(17))), `"command":"sync"`, `"command":"run"`, 1)
			storetest.Overwrite(t, s, lake.CommitKey(17), []byte(data))
		}, []string{"checkpoint " + key, "log-chain " + lake.CommitKey(18)}},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s := storetest.Clone(t, sound)
			damage.do(s)
			report, err := verify.Lake(t.Context(), s, verify.Config{})
			if errors.Is(err, verify.ErrDamage) != (len(damage.want) > 0) || !errors.Is(err, verify.ErrDamage) && err != nil {
				t.Fatalf("got %v", err)
			}
			var found []string
			for _, f := range report.Findings {
				found = append(found, string(f.Check)+" "+f.Path)
			}
			slices.Sort(found)
			if !slices.Equal(found, damage.want) || report.Commit != last {
				t.Errorf("commit %d: found %q, want %q", report.Commit, found, damage.want)
			}
		})
	}
	// Another version of the program writes other bytes of the same runs.
	s := storetest.Clone(t, sound)
	reencode(t, s, loadtest.Open(t, s).Log())
	if report, err := verify.Lake(t.Context(), s, verify.Config{}); err != nil {
		t.Errorf("segments with other bytes: %v, %+v", err, report)
	}
}

// reencode replaces the segments and the checkpoint of a lake by some with other bytes, which say the same.
func reencode(t *testing.T, s store.Store, log *load.Log) {
	t.Helper()
	checkpoint := lake.CheckpointKey(log.Number)
	text, err := parquet.Decompress(bytes.NewReader(storetest.Bytes(t, s, checkpoint)))
	if err != nil {
		t.Fatal(err)
	}
	for _, segment := range log.Segments() {
		key := lake.SegmentKey(segment.Last)
		object := append(storetest.Bytes(t, s, key), "\x50\x2a\x4d\x18\x04\x00\x00\x00odd!"...) // a frame of zstd that readers skip
		storetest.Overwrite(t, s, key, object)
		text = bytes.Replace(text, []byte(segment.SHA256), []byte(lake.SHA256(object)), 1)
	}
	packed, err := parquet.Compress(text)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, s, checkpoint, packed)
}
