package memstore_test

import (
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return new(memstore.Mem)
	})
}
