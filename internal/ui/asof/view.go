package asof

import (
	"context"
	"fmt"
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql/explorer"
	"dealflow/transform"
)

// View is the lake as it was known at an instant. It is safe for concurrent use until it is released.
type View struct {
	lake    *Lake
	edition *edition
	instant lake.Instant
	pinned  bool
	commits []lake.Commit // up to the instant
}

// Newest returns the lake as of its newest commit; as of now if it has none.
func (l *Lake) Newest(ctx context.Context) (*View, error) {
	e, err := l.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return l.newestOf(e), nil
}

// newestOf returns an edition as of its newest commit. The caller is one of its users.
func (l *Lake) newestOf(e *edition) *View {
	instant := e.Log.KnownAt
	if len(e.Runs) == 0 {
		instant = lake.At(l.config.Clock())
	}
	return &View{lake: l, edition: e, instant: instant, commits: slices.Clip(e.Runs)}
}

// At returns the lake as of an instant.
func (l *Lake) At(ctx context.Context, instant lake.Instant) (*View, error) {
	e, err := l.acquire(ctx)
	if err != nil {
		return nil, err
	}
	known := e.Runs
	n := len(known)
	for n > 0 && known[n-1].KnownAt.After(instant.Time) {
		n--
	}
	return &View{lake: l, edition: e, instant: instant, pinned: true, commits: known[:n:n]}, nil
}

// Release ends the use of the view.
func (v *View) Release() error { return v.lake.release(v.edition) }

// Instant is the instant of the view: of an unpinned one, that of the newest commit, or now if there is none.
func (v *View) Instant() lake.Instant { return v.instant }

// Pinned says whether the reader has named the instant.
func (v *View) Pinned() bool { return v.pinned }

// Commits returns the commits that were known at the instant, oldest first. The caller must not change them.
func (v *View) Commits() []lake.Commit { return v.commits }

// Commit returns the newest commit that was known; nil before the first.
func (v *View) Commit() *lake.Commit {
	if len(v.commits) == 0 {
		return nil
	}
	return &v.commits[len(v.commits)-1]
}

// shown names the newest commit that was known, with the number 0 before the first.
func (v *View) shown() lake.NamedCommit {
	if last := v.Commit(); last != nil {
		return lake.NamedCommit{Number: last.Number, KnownAt: last.KnownAt}
	}
	return lake.NamedCommit{KnownAt: v.instant}
}

// Later is the number of commits after the instant. It is all that a view says of them.
func (v *View) Later() int { return len(v.edition.Runs) - len(v.commits) }

// Range is what the as-of control moves in: the lake's first commit, its newest one, the days of all snapshots, and the
// commits before and after the view's. It is about the lake, not about what was known. A lake without a commit has the number 0
// as its newest, and no instant.
type Range struct {
	First, Newest lake.Instant
	NewestCommit  int64
	Days          []Day
	Before, After *lake.Commit // nil for none
}

// Range returns the range of the as-of control.
func (v *View) Range() Range {
	all := v.edition.Runs
	r := Range{Newest: v.edition.Log.KnownAt, NewestCommit: v.edition.Log.Number, Days: v.edition.days}
	if len(all) > 0 {
		r.First = all[0].KnownAt
	}
	if n := len(v.commits); n > 1 {
		r.Before = &all[n-2]
	}
	if n := len(v.commits); n < len(all) {
		r.After = &all[n]
	}
	return r
}

// State identifies the catalog and the instant that answers depend on.
func (v *View) State() string {
	return fmt.Sprintf("%d %s %s", v.edition.Log.Number, v.edition.Log.SHA256, v.at())
}

// at returns the instant that statements get: that of the newest commit known, because answers depend on no other.
func (v *View) at() string {
	if c := v.Commit(); c != nil {
		return c.KnownAt.String()
	}
	return v.instant.String()
}

// Statement returns a statement by name.
func (v *View) Statement(name string) (explorer.Statement, error) {
	s, ok := v.lake.statements[name]
	if !ok {
		return s, fmt.Errorf("no statement %q", name)
	}
	return s, nil
}

// longestValue is the most bytes of a value in a comparison of two versions: a cell of a page may have as many.
const longestValue = 1 << 20

// Diff compares two versions of a deal that have content: what changed with after, compared with before. It returns false if
// one of the payloads can no longer be read. Values are whole up to longestValue bytes; those of field_change are shorter.
func (v *View) Diff(ctx context.Context, feed api.Feed, dealID int64, before, after Version) ([]lake.FieldChange, bool, error) {
	bases := lake.NewBases(v.commits, feed)
	was, ok, err := v.content(ctx, bases, feed, dealID, before)
	if err != nil || !ok {
		return nil, false, err
	}
	is, ok, err := v.content(ctx, bases, feed, dealID, after)
	if err != nil || !ok {
		return nil, false, err
	}
	differ := transform.NewDiffer(feed)
	differ.Longest = longestValue
	changes, err := differ.Diff(was, is)
	if err != nil {
		return nil, false, nil //nolint:nilerr // a payload that is no record: verify reports it
	}
	return changes, true, nil
}

// Forms returns the contents of two versions of a deal in the form in which versions are compared: without what is no content,
// such as the spelling of numbers. It returns false if one of them cannot be read.
func (v *View) Forms(ctx context.Context, feed api.Feed, dealID int64, before, after Version) (forms [2]string, readable bool, err error) {
	bases := lake.NewBases(v.commits, feed)
	for i, version := range []Version{before, after} {
		content, ok, err := v.content(ctx, bases, feed, dealID, version)
		if err != nil || !ok {
			return forms, false, err
		}
		form, err := transform.NewCanonicalizer(content.Base).Form(content.Payload)
		if err != nil {
			return forms, false, nil //nolint:nilerr // a payload that is no record: verify reports it
		}
		forms[i] = string(form)
	}
	return forms, true, nil
}

// Version is a version of a deal, and when it became known.
type Version struct {
	Number  int64
	KnownAt string
}

func (v *View) content(ctx context.Context, bases *lake.Bases, feed api.Feed, dealID int64, version Version) (transform.Content, bool, error) {
	args := Args{
		"service": string(feed.Service), "market": string(feed.Market), "kind": string(feed.Kind), "deal_id": fmt.Sprint(dealID),
		"version": fmt.Sprint(version.Number), "at": version.KnownAt,
	}
	found, err := v.Ask(ctx, Query{Name: "deal_payload", Args: args})
	if err != nil || len(found.Rows) == 0 {
		return transform.Content{}, false, err
	}
	row := found.Row(0)
	base, err := bases.Of(row.Text("run_id"))
	if err != nil || row.Null("payload") {
		return transform.Content{}, false, nil //nolint:nilerr // a removal, or a commit that was lost
	}
	content := transform.Content{Payload: []byte(row.Text("payload")), Base: base}
	if feed.Kind != api.Expected {
		return content, true, nil
	}
	tranches, err := v.Ask(ctx, Query{Name: "deal_tranches", Args: args})
	if err != nil {
		return content, false, err
	}
	for i := range tranches.Rows {
		content.Tranches = append(content.Tranches, int32(tranches.Row(i).Int("tranche_uid")))
	}
	return content, true, nil
}
