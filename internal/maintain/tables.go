package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dealflow/load/iceberg"
	"dealflow/schemas/lake"
)

// TablesCommand is the name of the command that publishes Iceberg tables, in commits and attempts.
const TablesCommand = "iceberg"

// TablesConfig says what to do with the lake's Iceberg tables.
type TablesConfig struct {
	Config
	// Change changes the settings that the lake remembers. nil: they stay, and the tables must be on.
	Change func(*iceberg.Settings)
}

// TablesResult says what was done with the Iceberg tables. `--json` prints this object; fields are only ever added.
type TablesResult struct {
	Result
	On        bool            `json:"on"`
	Published *iceberg.Result `json:"published"` // null if nothing was published
}

// ErrTablesOff is the error of publishing the tables of a lake whose settings turn them off.
var ErrTablesOff = errors.New("the lake's Iceberg tables are off: run `dealflow iceberg on`")

// Tables changes the settings of the lake's Iceberg tables and publishes them, or removes them if they are off. Before a
// lake gets tables for the first time, a commit records that programs without this ability must not write to it. If another
// command holds the lease, nothing is done (lake.OutcomeSkipped).
func Tables(ctx context.Context, cfg TablesConfig) (*TablesResult, error) {
	result := &TablesResult{}
	begun, err := execute(ctx, cfg.Config, TablesCommand, &result.Result, func(ctx context.Context, w *work) error {
		return w.tables(ctx, cfg.Change, result)
	})
	if !begun {
		return nil, err
	}
	return result, err
}

func (w *work) tables(ctx context.Context, change func(*iceberg.Settings), result *TablesResult) error {
	on, settings, err := iceberg.IsOn(ctx, w.lake)
	if err != nil {
		return err
	}
	if change == nil && !on {
		return ErrTablesOff
	}
	if change != nil {
		change(&settings)
	}
	result.On = settings.On
	if needs := w.lake.Log().Needs(); settings.On && !slices.Contains(needs.RequiresToWrite, lake.NeedIceberg) {
		c := lake.Commit{Needs: lake.Needs{RequiresToWrite: []string{lake.NeedIceberg}}, Remove: []string{}}
		if err := w.retryConflicts(ctx, func() error { return w.commitOnce(ctx, c, &result.Result) }, func() error { return nil }); err != nil {
			return err
		}
	}
	if change != nil {
		if err := iceberg.WriteSettings(ctx, w.Store, settings); err != nil {
			return err
		}
	}
	if settings.On {
		result.Published, err = iceberg.Publish(ctx, w.lake, iceberg.Config{Clock: w.Clock, Memory: w.Memory})
		if err != nil {
			return fmt.Errorf("publish Iceberg tables: %w", err)
		}
	} else if err := iceberg.Off(ctx, w.Store); err != nil {
		return fmt.Errorf("remove Iceberg tables: %w", err)
	}
	result.Outcome = lake.OutcomeDone
	return nil
}

// publishTables publishes the Iceberg tables after a commit, if the lake has any.
func (w *work) publishTables(ctx context.Context) error {
	if w.command == TablesCommand {
		return nil // it has
	}
	_, err := iceberg.AfterCommit(ctx, w.lake, iceberg.Config{Clock: w.Clock, Memory: w.Memory}, false)
	return err
}
