package dirstore_test

import (
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s, err := dirstore.New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
