package load_test

import (
	"bytes"
	"testing"

	"dealflow/load/store"
)

func overwrite(t *testing.T, s store.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, bytes.NewReader(data), store.Replace); err != nil {
		t.Fatal(err)
	}
}
