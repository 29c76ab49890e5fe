package status

import (
	"maps"
	"slices"
	"time"

	"dealflow/internal/metrics"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// Health returns the result in numbers; nil for none.
func (s *Result) Health() *metrics.Health {
	if s == nil {
		return nil
	}
	h := &metrics.Health{
		State: s.State, MaxAge: time.Duration(s.MaxAgeSeconds) * time.Second, Refused: s.Refused != "",
		AtWork: s.Lease != nil && s.Lease.State == load.LeaseHeld, Waiting: len(s.Waiting), Succeeded: map[string]time.Time{},
		Size: metrics.Size{Commit: s.Commit, CatalogCommit: s.CatalogCommit, Files: s.Files, Bytes: s.Bytes, OlderFiles: s.OlderFiles},
	}
	counts := map[string]int{}
	for _, f := range s.Findings {
		counts[f.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		h.Findings = append(h.Findings, metrics.Finding{Kind: kind, Severity: kinds[kind], Count: counts[kind]})
	}
	for command, at := range s.succeeded {
		h.Succeeded[command] = at.Time
	}
	if l := s.LastSuccess; l != nil {
		h.LastSuccess = l.KnownAt.Time
	}
	if l := s.LastFailure; l != nil {
		h.LastFailure, h.FailureOpen = l.StartedAt.Time, l.Open
	}
	if v := s.LastVerify; v != nil {
		h.LastVerify, h.VerifyBad = v.StartedAt.Time, v.Open
	}
	if len(s.Nights) > 0 {
		n := &s.Nights[0]
		h.Night = metrics.Night{KnownAt: n.KnownAt.Time, Seconds: n.Seconds, Requests: n.Requests, BytesReceived: n.BytesReceived, BytesAdded: n.Bytes, FilesAdded: n.Files}
	}
	for i := range s.Feeds {
		f := &s.Feeds[i]
		if f.Last == nil {
			continue
		}
		feed := metrics.Feed{
			Name: f.Feed.String(), Deals: f.Deals, Held: f.Held != nil, Failed: f.Last.Outcome == lake.OutcomeFailed,
			Quarantined: f.Last.Quarantined, Drift: f.Last.DriftCount(), Unproved: f.UnprovedAbsent,
		}
		if f.SnapshotAt != nil {
			feed.SnapshotAt = f.SnapshotAt.Time
		}
		if f.judged {
			feed.MaxAge = h.MaxAge
		}
		h.Feeds = append(h.Feeds, feed)
	}
	return h
}
