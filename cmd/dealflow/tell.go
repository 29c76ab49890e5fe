package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/internal/lineage"
	"dealflow/internal/logs"
	"dealflow/internal/metrics"
	"dealflow/internal/notify"
	"dealflow/internal/pull"
	"dealflow/internal/words"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// tellSettings say whom a command tells how it ended.
type tellSettings struct {
	metricsFile string
	openLineage string // file or URL
	namespace   string // of jobs, for OpenLineage
	onSuccess   string // command or URL
	onFailure   string
	timeout     time.Duration // of one message, with all its tries
}

// addTelling adds the flags of the commands that tell how they ended.
func (s *settings) addTelling(flags *pflag.FlagSet) {
	s.addMetricsFile(flags)
	shared(flags, func(flags *pflag.FlagSet) {
		flags.StringVar(&s.tell.onSuccess, "on-success", "", "shell command that gets the result as JSON on stdin after a success, or URL to which it is sent (default: none)")
		flags.StringVar(&s.tell.onFailure, "on-failure", "", "the same after a failure: an exit code other than 0 and 9, except of a command that gave way to another one (default: none)")
		flags.StringVar(&s.tell.openLineage, "openlineage", "", "file to which events of OpenLineage are added, one a line, or URL of a server that takes them (default: none)")
		flags.StringVar(&s.tell.namespace, "openlineage-namespace", "dealflow", "namespace of the jobs in these events")
		flags.DurationVar(&s.tell.timeout, "notify-timeout", 30*time.Second, "time limit of --on-success, --on-failure and of one event, with all tries")
		for _, name := range []string{"on-success", "on-failure", "openlineage"} {
			annotate(flags.Lookup(name), secretFlag)
		}
	})
}

// addMetricsFile adds the flag of the commands that write metrics.
func (s *settings) addMetricsFile(flags *pflag.FlagSet) {
	shared(flags, func(flags *pflag.FlagSet) {
		flags.StringVar(&s.tell.metricsFile, "metrics-file", "", "file for metrics in the text format of Prometheus, such as /var/lib/node_exporter/dealflow.prom (default: none)")
	})
}

// telling tells others that a command began, and how it ended. None of that changes how it ended: what fails is a warning.
type telling struct {
	app     *app
	command string
	began   time.Time
}

// begin tells that the command began.
func (t *telling) begin(ctx context.Context, at *attempt) {
	if t.app.settings.tell.openLineage != "" {
		event, err := t.lineage(at).Begun()
		t.sendEvent(ctx, at, lineage.Start, event, err)
	}
}

// end tells how the command ended. at is nil if it could not open the store of its lake.
func (t *telling) end(ctx context.Context, at *attempt, err error) {
	ended := t.app.endingOf(ctx, t, at, err)
	ctx = context.WithoutCancel(ctx) // a cancelled command is told, too
	t.writeMetrics(ctx, at, ended)
	if at != nil && t.app.settings.tell.openLineage != "" {
		t.endLineage(ctx, at, ended)
	}
	t.callHook(ctx, at, ended, err)
}

// writeMetrics writes the metrics file with the health of the lake after the command.
func (t *telling) writeMetrics(ctx context.Context, at *attempt, ended metrics.Ending) {
	a := t.app
	if a.settings.tell.metricsFile == "" {
		return
	}
	url := shownAddress(a.settings.lake)
	var health *metrics.Health
	if at != nil {
		url = at.store.URL()
		health, _ = a.readHealth(ctx, at.store) // without it the file says that the lake could not be read
	}
	a.writeMetrics(url, health, &ended)
}

// lineage returns the command as OpenLineage knows it.
func (t *telling) lineage(at *attempt) *lineage.Command {
	s := &t.app.settings
	c := &lineage.Command{RunID: at.runID, Name: t.command, Namespace: s.tell.namespace, Lake: at.store.URL(), Version: version(), StartedAt: t.began}
	if base, err := s.base(); err == nil {
		c.API = base.String()
	}
	return c
}

// endLineage sends the event that says how the command ended.
func (t *telling) endLineage(ctx context.Context, at *attempt, ended metrics.Ending) {
	end := lineage.Ending{Type: lineage.Fail, EndedAt: ended.EndedAt, Error: at.mask(t.app, at.result.Error)}
	switch {
	case ended.Succeeded():
		end.Type, end.Error = lineage.Complete, ""
	case ended.Skipped, ended.ExitCode == exitcode.Cancelled:
		end.Type = lineage.Abort
	}
	if r, ok := at.shown.(*pull.Result); ok {
		end.Feeds = r.Feeds
	}
	var err error
	if at.result.Commit > 0 {
		end.Commit, err = readCommit(ctx, at.store, at.result.Commit)
	}
	var event []byte
	if err == nil {
		event, err = t.lineage(at).Ended(end)
	}
	t.sendEvent(ctx, at, end.Type, event, err)
}

// readCommit reads a commit with the files that it added.
func readCommit(ctx context.Context, s store.Store, number int64) (*lake.Commit, error) {
	data, err := store.Read(ctx, s, lake.CommitKey(number))
	if err != nil {
		return nil, err
	}
	return lake.DecodeCommit(data)
}

// lineagePath is where a server takes events, if the setting names no path.
const lineagePath = "/api/v1/lineage"

// sendEvent sends an event of OpenLineage. err is why there is none.
func (t *telling) sendEvent(ctx context.Context, at *attempt, kind lineage.EventType, event []byte, err error) {
	a := t.app
	target := a.settings.tell.openLineage
	switch {
	case err != nil:
	case !notify.IsURL(target):
		err = notify.Append(target, event)
	default:
		if u, parseErr := url.Parse(strings.TrimSpace(target)); parseErr == nil && strings.Trim(u.Path, "/") == "" {
			target = u.JoinPath(lineagePath).String()
		}
		err = a.post(ctx, "openlineage_token", target, event)
	}
	if err != nil {
		a.say().Warn("an event of OpenLineage was not sent", "event", string(kind), "error", at.mask(a, err.Error()))
	}
}

// post sends a document to a web server, with the token of a setting.
func (a *app) post(ctx context.Context, tokenSetting, target string, document []byte) error {
	token, err := a.secret(ctx, tokenSetting)
	if err != nil {
		return err
	}
	return notify.Post(ctx, notify.Config{Timeout: a.settings.tell.timeout, Token: api.NewSecret(token)}, target, document)
}

// told is what --on-success and --on-failure get. docs/how-to/notify.md has it; fields are only ever added.
type told struct {
	Event        string       `json:"event"` // success or failure
	Text         string       `json:"text"`  // one sentence for people
	Command      string       `json:"command"`
	Lake         string       `json:"lake"`
	RunID        string       `json:"run_id"` // "" if the lake's store could not be opened
	StartedAt    lake.Instant `json:"started_at"`
	EndedAt      lake.Instant `json:"ended_at"`
	ExitCode     int          `json:"exit_code"`
	Outcome      string       `json:"outcome"`
	Error        string       `json:"error"`
	Todo         string       `json:"todo"`   // the command that mends it; "" if there is nothing to do
	Commit       int64        `json:"commit"` // 0: it made none
	SnapshotDate string       `json:"snapshot_date"`
	Warnings     []string     `json:"warnings"`
	Result       any          `json:"result"` // what --json prints; null for a command that did not come that far
}

// callHook tells the hook of the ending. A command that gave way to another one has neither succeeded nor failed.
func (t *telling) callHook(ctx context.Context, at *attempt, ended metrics.Ending, err error) {
	a := t.app
	hook, target, event := "on-failure", a.settings.tell.onFailure, "failure"
	if ended.Succeeded() {
		hook, target, event = "on-success", a.settings.tell.onSuccess, "success"
	}
	if target == "" || ended.Skipped || a.getenv(insideHook) != "" {
		return
	}
	document, fault := json.Marshal(t.told(at, ended, event, err))
	switch {
	case fault != nil:
	case notify.IsURL(target):
		fault = a.post(ctx, "webhook_token", target, document)
	default:
		fault = notify.Run(ctx, notify.Config{Timeout: a.settings.tell.timeout, Environ: a.hookEnviron()}, target, append(document, '\n'))
	}
	if fault != nil {
		text := at.mask(a, fault.Error())
		a.say().Warn("a hook failed", "hook", hook, "error", text, logs.Text("--%s: %s", hook, text))
	}
}

// told returns what a hook gets.
func (t *telling) told(at *attempt, ended metrics.Ending, event string, err error) told {
	d := told{
		Event: event, Command: t.command, Lake: shownAddress(t.app.settings.lake), StartedAt: lake.At(ended.StartedAt), EndedAt: lake.At(ended.EndedAt),
		ExitCode: ended.ExitCode, Outcome: lake.OutcomeFailed, Warnings: []string{},
	}
	if err != nil {
		d.Error = at.mask(t.app, err.Error())
	}
	var r attempts.Result
	if at != nil {
		r = at.result
		d.Lake, d.RunID, d.Outcome, d.Commit, d.SnapshotDate, d.Result = at.store.URL(), at.runID, r.Outcome, r.Commit, r.SnapshotDate, at.shown
		d.Warnings = at.maskAll(t.app, r.Warnings)
	}
	if d.Commit == 0 {
		r.ExitCode, r.Error = &d.ExitCode, d.Error
		d.Todo = advice.AfterResult(t.command, &r)
	}
	switch {
	case event == "success" && d.Commit > 0:
		d.Text = fmt.Sprintf("dealflow %s of %s: commit %d, %s", d.Command, d.Lake, d.Commit, d.Outcome)
	case event == "success":
		d.Text = fmt.Sprintf("dealflow %s of %s: %s", d.Command, d.Lake, d.Outcome)
	default:
		d.Text = fmt.Sprintf("dealflow %s of %s: exit code %d: %s", d.Command, d.Lake, d.ExitCode, words.Reason(d.Error, d.RunID))
	}
	return d
}

// insideHook is the variable that a hook and what it starts have. It does not begin with DEALFLOW_: it is no setting.
const insideHook = "INSIDE_DEALFLOW_HOOK"

// hookEnviron returns the variables of a hook: those of this process without the program's own secrets and without the hooks, which
// may contain secrets, and insideHook.
func (a *app) hookEnviron() (environ []string) {
	secrets := secretVariables()
	for _, variable := range a.Environ {
		name, _, _ := strings.Cut(variable, "=")
		switch {
		case strings.HasPrefix(name, "DEALFLOW_") && (strings.HasSuffix(name, "ON_SUCCESS") || strings.HasSuffix(name, "ON_FAILURE")):
		case slices.Contains(secrets, name):
		default:
			environ = append(environ, variable)
		}
	}
	return append(environ, insideHook+"=1")
}

// maskAll is mask for several texts. It never returns nil.
func (at *attempt) maskAll(a *app, texts []string) []string {
	masked := make([]string, len(texts))
	for i, text := range texts {
		masked[i] = at.mask(a, text)
	}
	return masked
}

// mask returns a text without the secrets that the command knows. at may be nil.
func (at *attempt) mask(a *app, text string) string {
	secrets := a.secrets()
	if at != nil {
		secrets = append(secrets, at.hidden...)
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}
