package operator

import (
	"context"
	"embed"

	"dealflow/internal/ui/frame"
)

// Source says what is so now. All functions are required, and may be called concurrently.
type Source struct {
	// Health says what `dealflow status` says.
	Health func(context.Context) (*Health, error)
	// Runs lists commits and attempts, newest first, at most that number of them.
	Runs func(ctx context.Context, most int) (*Listing, error)
	// Run returns a run by its commit's number, its id, or the beginning of its id; nil unless exactly one run matches.
	Run func(ctx context.Context, name string) (*Run, error)
	// Files counts what a commit added and removed.
	Files func(ctx context.Context, commit int64) (FileChange, error)
	// Record returns the bytes of a record in quarantine; nil if none has this id.
	Record func(ctx context.Context, id string) ([]byte, error)
}

// Templates are those of the pages.
//
//go:embed templates/*.html
var Templates embed.FS

type source struct{ Source }

// Pages returns the pages.
func Pages(from Source) []frame.Page {
	s := &source{from}
	return []frame.Page{
		{Path: "", Word: "Health", Title: "Health", Key: "h", Live: true, Show: s.showHealth},
		{Path: "feeds", Word: "Health", Title: "Feeds", Show: showFeeds, Main: mainFeeds},
		{Path: "runs", Word: "Runs", Title: "Runs", Key: "r", Live: true, Params: []string{"command", "outcome"}, Show: s.showRuns, Main: mainRuns},
		{Path: "runs/last", Word: "Runs", Move: moveToLast},
		{Path: "quarantine/{record}", Word: "Health", Live: true, Whole: true, Show: s.showRecord},
		{Path: "runs/{commit}", Word: "Runs", Live: true, Show: s.showRun, Main: mainRun},
	}
}

// State returns the verdict for monitors, and whether it is a good one.
func (s Source) State(ctx context.Context) (good bool, said any) {
	h, err := s.Health(ctx)
	if err != nil {
		return false, map[string]any{"verdict": verdictFailed, "error": err.Error()}
	}
	verdict, findings := h.Verdict(), append([]Finding{}, h.Findings...) // in JSON, none are an empty list
	return verdict != verdictFailed && verdict != verdictHeld && verdict != verdictStale, map[string]any{"verdict": verdict, "now": h.Now, "findings": findings}
}
