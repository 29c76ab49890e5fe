package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/schemas/lake"
	"dealflow/sql/sealed"
)

// TestMemory reads the state of a published catalog again and again. Its bytes are read again if the file was written to, or is
// another one; and always, while it is so new that its time does not tell.
func TestMemory(t *testing.T) {
	t.Parallel()
	w := threeNights(t)
	path := filepath.Join(w.Root, lake.CatalogKey)
	made := time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)
	var memory catalog.Memory
	want := func(when string, now time.Time, flaw error) {
		t.Helper()
		state, err := memory.ReadPublished(t.Context(), w.Lake(t), t.TempDir(), now)
		if err != nil || !errors.Is(state.Flaw, flaw) {
			t.Errorf("%s: flaw %v, %v; want %v", when, state.Flaw, err, flaw)
		}
		if flaw == nil && state.Shows != w.Log(t).Newest() {
			t.Errorf("%s: it shows %v, want the newest commit", when, state.Shows)
		}
	}
	// alter changes a byte of the file, and gives it a time.
	alter := func(at time.Time) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err == nil {
			data[len(data)/2] ^= 1
			err = errors.Join(os.WriteFile(path, data, 0o600), os.Chtimes(path, at, at))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(instant time.Time) {
		t.Helper()
		if err := os.Chtimes(path, instant, instant); err != nil {
			t.Fatal(err)
		}
	}
	at(made)
	want("just made", made.Add(time.Second), nil)
	alter(made)
	want("altered while its time does not tell", made.Add(time.Second), sealed.ErrChanged)
	alter(made)
	want("as it was made", made.Add(time.Hour), nil)
	alter(made)
	want("with the same time", made.Add(2*time.Hour), nil) // it was not read again: this shows that it is remembered
	at(made.Add(3 * time.Hour))
	want("written to", made.Add(4*time.Hour), sealed.ErrChanged)
	w.Night(t, 3)
	want("after another night", time.Now().Add(time.Hour), nil)

	wal := filepath.Join(w.Root, lake.CatalogWALKey)
	if err := os.WriteFile(wal, []byte("unfinished"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("next to a write-ahead log", time.Now().Add(time.Hour), catalog.ErrWAL)
	if err := os.Remove(wal); err != nil {
		t.Fatal(err)
	}
	want("without it", time.Now().Add(time.Hour), nil)
}
