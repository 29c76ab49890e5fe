package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/pull"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func newQuarantine(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "Show the records that could not be read, and request them again",
		Long: `quarantine shows the records that could not be read as a deal, and requests them again.

A record is in quarantine with its bytes and one of five reasons: it is no valid JSON (invalid_json),
it is no JSON object (not_an_object), it has no usable id (no_usable_id), it has a member name twice
(duplicate_member), or it is no valid UTF-8 (invalid_utf8). Its deal keeps its last version. A record
without a readable id changes nothing of removals: as without it, the API is asked by id whether a
missing deal is gone.`,
		Example: "  dealflow quarantine list\n  dealflow quarantine show 5f2a90c1d3e4 > record.json\n  dealflow quarantine retry",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return usagef("unknown command %q; see `dealflow quarantine --help`", words[0])
		},
	}
	cmd.AddCommand(newQuarantineList(a), newQuarantineShow(a), newQuarantineRetry(a))
	return cmd
}

// quarantined is a record in quarantine, as `quarantine list --json` prints it. A record appears once, even if several
// runs have read it.
type quarantined struct {
	ID      string       `json:"id"` // id of the record, for `quarantine show`
	Feed    api.Feed     `json:"feed"`
	DealID  *int64       `json:"deal_id"` // null if it cannot be read
	Reason  string       `json:"reason"`
	Detail  string       `json:"detail"`
	Open    bool         `json:"open"` // the feed's last run, or a sync after it, has received it, and could not read its deal since
	Runs    int          `json:"runs"` // number of runs that have read it
	First   lake.Instant `json:"first_observed_at"`
	Last    lake.Instant `json:"last_observed_at"`
	Bytes   int          `json:"bytes"`
	Page    string       `json:"page"` // address of its page, relative to the API's base URL
	payload []byte
}

func newQuarantineList(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the records that could not be read when their feed was pulled last",
		Example: "  dealflow quarantine list\n  dealflow quarantine list --all --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return listQuarantine(cmd.Context(), a, all) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "also list the records of earlier runs, and those whose deal was read since")
	return cmd
}

func listQuarantine(ctx context.Context, a *app, all bool) error {
	records, err := a.quarantine(ctx)
	if err != nil {
		return err
	}
	if !all {
		records = slices.DeleteFunc(records, func(q quarantined) bool { return !q.Open })
	}
	if a.settings.json {
		return printJSON(a.Stdout, records)
	}
	if len(records) == 0 {
		a.say().Info("no record is listed", "lake", shownAddress(a.settings.lake), logs.Text("%s", noRecords(all)))
	}
	var rows [][]string
	for _, q := range records {
		deal, state := "-", "past"
		if q.DealID != nil {
			deal = fmt.Sprint(*q.DealID)
		}
		if q.Open {
			state = "open"
		}
		rows = append(rows, []string{q.ID, q.Feed.String(), deal, state, q.Reason, fmt.Sprint(q.Runs), q.First.String(), words.Size(int64(q.Bytes)), words.Printable(q.Detail)})
	}
	return printTable(a.Stdout, []string{"id", "feed", ">deal", "state", "reason", ">runs", "first observed", ">size", "detail"}, rows)
}

// noRecords says why list prints none.
func noRecords(all bool) string {
	if all {
		return "no record has ever been in quarantine"
	}
	return "no record is in quarantine; --all lists those of earlier runs, too"
}

// quarantine returns all records in quarantine, sorted by feed and first observation.
func (a *app) quarantine(ctx context.Context) ([]quarantined, error) {
	l, err := a.openLake(ctx)
	if err != nil {
		return nil, err
	}
	records := []quarantined{}
	for _, feed := range api.Feeds() {
		found, err := quarantineOf(ctx, l, feed)
		if err != nil {
			return nil, err
		}
		records = append(records, found...)
	}
	return records, nil
}

func quarantineOf(ctx context.Context, l *load.Lake, feed api.Feed) ([]quarantined, error) {
	met, err := l.Quarantined(ctx, feed, nil)
	if err != nil {
		return nil, err
	}
	since := l.Log().RunsSinceSnapshot(feed)
	open, err := l.Unread(ctx, feed, slices.DeleteFunc(slices.Clone(met), func(q load.Quarantined) bool { return !since[q.RunID] }))
	if err != nil {
		return nil, err
	}
	return recordsOf(feed, met, open), nil
}

// recordsOf returns the records of a feed that were met, each once, oldest first. Those that are also in open are Open.
func recordsOf(feed api.Feed, met, open []load.Quarantined) []quarantined {
	isOpen, byID := map[string]bool{}, map[string]*quarantined{}
	for i := range open {
		isOpen[recordID(feed, open[i].Raw)] = true
	}
	for _, q := range met {
		id := recordID(feed, q.Raw)
		r := byID[id]
		if r == nil {
			r = &quarantined{ID: id, Feed: feed, First: q.ObservedAt, Bytes: len(q.Raw), payload: q.Raw}
			byID[id] = r
		}
		if q.HasID {
			r.DealID = &q.DealID
		}
		r.Reason, r.Detail, r.Page, r.Last = string(q.Reject.Reason), q.Reject.Detail, q.Page, q.ObservedAt
		r.Runs++
		r.Open = isOpen[id]
	}
	records := make([]quarantined, 0, len(byID))
	for _, r := range byID {
		records = append(records, *r)
	}
	slices.SortFunc(records, func(x, y quarantined) int {
		return cmp.Or(x.First.Compare(y.First.Time), cmp.Compare(x.ID, y.ID))
	})
	return records
}

// recordID returns a record's id, made from its feed and bytes, so that the id is the same in every run.
func recordID(feed api.Feed, raw []byte) string {
	sum := sha256.Sum256(append([]byte(feed.String()+"\n"), raw...))
	return hex.EncodeToString(sum[:6])
}

func newQuarantineShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show <id>",
		Short:   "Print the bytes of a record as received",
		Example: "  dealflow quarantine show 5f2a90c1d3e4 > record.json",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, words []string) error { return showQuarantine(cmd.Context(), a, words[0]) },
	}
}

func showQuarantine(ctx context.Context, a *app, id string) error {
	records, err := a.quarantine(ctx)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(records, func(q quarantined) bool { return !strings.HasPrefix(q.ID, id) })
	switch {
	case len(records) == 0:
		return usagef("no record %s is in quarantine; `dealflow quarantine list --all` lists them", id)
	case len(records) > 1:
		return usagef("%d records in quarantine begin with %s, want one; type more of the id", len(records), id)
	}
	q := records[0]
	a.say().Info("record", "feed", q.Feed.String(), "page", q.Page, "reason", q.Reason, "detail", q.Detail,
		logs.Text("%s, page %s: %s", q.Feed, words.Printable(q.Page), words.Printable(q.Reason+": "+q.Detail)))
	_, err = a.Stdout.Write(q.payload)
	return err
}

func newQuarantineRetry(a *app) *cobra.Command {
	var o pullOptions
	cmd := &cobra.Command{
		Use:   "retry",
		Short: "Request the deals in quarantine again, by id, and commit what can be read",
		Long: `retry requests by id each deal that the last pull of its feed put into quarantine, and commits those
that can be read now. The commit adds to history only, and removes no deal.

A record without a readable id waits for the next run, which reads the complete list. If there are no
others, retry says so and ends with 0.`,
		Example: "  dealflow quarantine retry",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.pullWith(cmd.Context(), pullCommand{name: "quarantine", execute: pull.RetryQuarantined, policy: attempts.Both}, o, nil)
		},
	}
	o.add(a, cmd.Flags())
	a.settings.addTelling(cmd.Flags())
	return cmd
}
