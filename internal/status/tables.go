package status

import (
	"context"

	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/schemas/lake"
)

// Tables is what status says of the lake's Iceberg tables.
type Tables struct {
	On          bool          `json:"on"`
	Commit      int64         `json:"commit"`       // that they show; 0 for none
	BehindSince *lake.Instant `json:"behind_since"` // known_at of the first commit that they lack; null if they lack none
	PinnedBytes int64         `json:"pinned_bytes"` // of replaced files that stay because of them; only known if they lack a commit for longer than the grace of files
}

// addTables adds what is published of the lake's Iceberg tables.
func (in *inspection) addTables(ctx context.Context, s *Result) error {
	on, _, err := iceberg.IsOn(ctx, in.lake)
	if err != nil || !on {
		return err
	}
	s.Iceberg.On = true
	published, err := iceberg.ReadPublished(ctx, in.lake.Store())
	if err != nil {
		return err
	}
	if published != nil {
		s.Iceberg.Commit = published.Number
	}
	if s.Iceberg.Commit >= in.log.Number {
		return nil
	}
	behind, _, err := in.lake.Named(ctx, s.Iceberg.Commit+1)
	if err != nil {
		return err
	}
	s.Iceberg.BehindSince = &behind.KnownAt
	if in.tablesOverdue(s) {
		s.Iceberg.PinnedBytes, err = iceberg.PinnedBytes(ctx, in.lake, in.Now)
	}
	return err
}

// tablesOverdue says whether the tables have lacked a commit for longer than the grace of files.
func (in *inspection) tablesOverdue(s *Result) bool {
	behind := s.Iceberg.BehindSince
	return behind != nil && in.Dated && in.Now.Sub(behind.Time) > load.Grace
}

func (in *inspection) judgeTables(s *Result) {
	if in.tablesOverdue(s) {
		s.add("iceberg", "", "`dealflow iceberg publish`", "the Iceberg tables show commit %d of %d, and lack what was known from %s; %s of replaced files stay because of them",
			s.Iceberg.Commit, s.Commit, s.Iceberg.BehindSince, words.Size(s.Iceberg.PinnedBytes))
	}
}
