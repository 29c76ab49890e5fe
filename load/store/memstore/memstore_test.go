package memstore_test

import (
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Config{
		Open:       func(*testing.T) store.Store { return new(memstore.Mem) },
		LargeBytes: 1 << 20,
		Objects:    2500,
	})
}
