package verify

import (
	"context"
	"fmt"

	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/lake"
)

// checkTables compares the published Iceberg tables with the lake. They are made from its log and files: if these are
// damaged, the tables are not checked.
func (v *verifier) checkTables(ctx context.Context) error {
	watch := watchstore.New(v.store)
	if published, err := iceberg.ReadPublished(ctx, watch); published == nil && err == nil {
		return nil
	}
	if v.isDamaged() {
		v.report(Finding{Check: NotChecked, Path: iceberg.PublishedKey, Detail: "the Iceberg tables were not checked: what they are made from is damaged"})
		return nil
	}
	l, err := load.Open(ctx, watch)
	if err != nil {
		return err
	}
	faults, err := iceberg.Verify(ctx, l, v.cfg.Memory, v.cfg.full())
	if err != nil {
		return err
	}
	if fault := watch.Fault(); fault != nil {
		v.markUnread(lake.IcebergPrefix, fmt.Errorf("check the Iceberg tables: %w", fault))
		return nil
	}
	for _, f := range faults {
		check := Tables
		switch {
		case f.Moved:
			check = TablesMoved
		case f.Note:
			check = NotChecked
		}
		v.report(Finding{Check: check, Path: f.Key, Table: f.Table, Detail: f.Detail, Todo: f.Todo})
	}
	return nil
}

// isDamaged says whether damage was found so far.
func (v *verifier) isDamaged() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for check := range v.findings {
		if rules[check].severity == Damage {
			return true
		}
	}
	return false
}
