package safesql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"dealflow/internal/confine"
)

// ErrTime means that a statement was ended because its time was over.
var ErrTime = errors.New("the statement was ended")

// ErrReplaced means that the catalog's file could not be opened, or shows another commit than that of the query: another one may have its name
// by now. Nothing was answered.
var ErrReplaced = errors.New("the catalog was replaced before the statement began")

// ErrSystem means that this system lacks what a statement needs to be run safely. It is an error before anything runs.
var ErrSystem = errors.New("statements cannot be run safely here")

// Runner runs statements, each in a process of its own. Its methods may be called concurrently.
type Runner struct {
	Command []string      // of a process that calls Serve: a file, and arguments
	WorkDir string        // for folders of statements; "" means the system's
	Time    time.Duration // of a statement; 0: as long as its context lasts
	// Unconfined runs statements without the restriction to some files, as on a system that has none.
	Unconfined bool

	without []gateName
}

// Query is a statement about a lake.
type Query struct {
	Statement string
	Catalog   string // a file, which nothing changes while the statement runs
	Commit    int64  // that the catalog must show; 0: any
	Lake      string // the local folder with the lake's files
}

// Supported returns nil if statements can be run, and ErrSystem otherwise. files says whether they also must write a file, as
// for Parquet.
func (r *Runner) Supported(files bool) error {
	lacks := r.lacks()
	if lacks != nil && (files || !canLimit) {
		return fmt.Errorf("%w: %w", ErrSystem, lacks)
	}
	return nil
}

func (r *Runner) lacks() error {
	if r.Unconfined {
		return fmt.Errorf("%w: the restriction is switched off", confine.ErrUnsupported)
	}
	return confine.Supported()
}

// Write writes the answer of a query in one of the formats that the worker has. What it has written before an error is not the
// complete answer.
func (r *Runner) Write(ctx context.Context, q Query, format string, out io.Writer) error {
	return r.run(ctx, q, job{Format: format}, out, nil)
}

// Page returns the first rows of an answer.
func (r *Runner) Page(ctx context.Context, q Query, rows int64) (*Page, error) {
	var out bytes.Buffer
	if err := r.run(ctx, q, job{Format: Pages, Rows: rows}, &out, nil); err != nil {
		return nil, err
	}
	p := new(Page)
	if err := json.Unmarshal(out.Bytes(), p); err != nil {
		return nil, fmt.Errorf("the answer of the statement's process: %w", err)
	}
	return p, nil
}

// Plan returns how a query would be run, as a text of lines. It is not run.
func (r *Runner) Plan(ctx context.Context, q Query) (string, error) {
	var out bytes.Buffer
	err := r.run(ctx, q, job{Format: Plans}, &out, nil)
	return out.String(), err
}

// Parquet calls use with a file that has the answer of a query. The file is removed after that.
func (r *Runner) Parquet(ctx context.Context, q Query, use func(path string) error) error {
	if err := r.Supported(true); err != nil {
		return err
	}
	return r.run(ctx, q, job{Format: Parquet}, io.Discard, use)
}

// run runs a statement in a process. If it succeeds, it calls use with the path of the answer's file, unless use is nil.
func (r *Runner) run(ctx context.Context, q Query, j job, out io.Writer, use func(string) error) (err error) {
	if err := errors.Join(r.Supported(false), checkText(q.Statement)); err != nil {
		return err
	}
	j.Statement, j.Commit, j.Without = q.Statement, q.Commit, r.without
	if j.Catalog, err = filepath.Abs(q.Catalog); err != nil {
		return err
	}
	if j.Lake, err = filepath.Abs(q.Lake); err != nil {
		return err
	}
	var files *confine.Files
	if r.lacks() == nil {
		if j.Own, err = os.MkdirTemp(r.WorkDir, "statement-*"); err != nil {
			return fmt.Errorf("work folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(j.Own)) }()
		if j.Own, err = filepath.Abs(j.Own); err != nil {
			return err
		}
		files = &confine.Files{Read: append(programFiles(r.Command[0]), append(lakeFolders(j.Lake), j.Catalog)...), Write: []string{j.Own}}
	}
	if !j.has(processGate) {
		files = nil
	}
	if err := r.work(ctx, j, files, out); err != nil || use == nil {
		return err
	}
	return use(filepath.Join(j.Own, parquetName))
}

// checkText returns a *Refusal for a text that would not come to the engine as it is: JSON has no other characters than those
// of Unicode, and the engine reads up to U+0000.
func checkText(statement string) error {
	switch nul := strings.IndexByte(statement, 0); {
	case nul >= 0:
		return &Refusal{Reason: "the statement has the character U+0000, at which the engine would stop reading; chr(0) is this character", At: nul}
	case !utf8.ValidString(statement):
		return &Refusal{Reason: "the statement is not UTF-8", At: -1}
	}
	return nil
}

// work starts the process of a job, and waits for its end.
func (r *Runner) work(ctx context.Context, j job, files *confine.Files, out io.Writer) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if r.Time > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, r.Time, fmt.Errorf("%w after its time, %s", ErrTime, r.Time))
		defer cancel()
	}
	var said tail
	cmd := exec.Command(r.Command[0], r.Command[1:]...) //nolint:noctx // Process.Kill ends it
	cmd.Args[0] = os.Args[0]                            // as which the process is listed
	cmd.Env = []string{}                                // it needs no variable, and some are credentials
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), out, &said
	process, err := confine.Start(cmd, files)
	if err != nil {
		return fmt.Errorf("start the statement's process: %w", err)
	}
	stop := context.AfterFunc(ctx, process.Kill)
	ended := process.Wait()
	if !stop() {
		return context.Cause(ctx)
	}
	var how report
	if err := json.Unmarshal(lastLine(said.text), &how); err != nil {
		return fmt.Errorf("the statement's process broke down (%w); it may have needed too much memory: %s", ended, firstLine(said.text))
	}
	switch {
	case how.Replaced:
		return fmt.Errorf("%w: %s", ErrReplaced, how.Failed)
	case how.Refused != "":
		return &Refusal{Reason: how.Refused, At: how.At}
	case how.Failed != "":
		return &Failure{Reason: how.Failed, At: how.At}
	}
	return ended
}

// programFiles are the files that a process of a program needs to start: those that this process of the same program has open
// as code, and what tells how much memory and how many processors there are.
func programFiles(program string) []string {
	files := []string{program, "/etc/ld.so.cache", "/sys/fs/cgroup", "/proc"}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return append(files, "/usr", "/lib", "/lib64")
	}
	for line := range strings.Lines(string(maps)) {
		if at := strings.IndexByte(line, '/'); at >= 0 && strings.Contains(line[:at], "x") {
			files = append(files, strings.TrimSpace(line[at:]))
		}
	}
	return files
}

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailBytes = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

// firstLine returns the first line of a text.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return line
}

// Failure is the error of a statement that the engine could not answer.
type Failure struct {
	Reason string // of DuckDB, with what it proposes instead
	At     int    // byte of the statement that the reason is about; -1 if it is not known
}

func (f *Failure) Error() string { return f.Reason }

// Explain returns an error of a statement as a text for people: with the line of the statement that it is about, and a mark
// under the place.
func Explain(err error, statement string) string {
	at := -1
	var refusal *Refusal
	var failure *Failure
	switch {
	case errors.As(err, &refusal):
		at = refusal.At
	case errors.As(err, &failure):
		at = failure.At
	}
	if at < 0 || at > len(statement) {
		return err.Error()
	}
	before := statement[:at]
	from := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(statement[from:], "\n")
	label := fmt.Sprintf("LINE %d: ", strings.Count(before, "\n")+1)
	return fmt.Sprintf("%s\n\n%s%s\n%s^", err, label, line, blank(label+before[from:]))
}

// blank returns spaces that are as wide as a text of one line, where letters have the same width: a tab stays, a wide character
// is a wide space, and one that is drawn onto the character before it is nothing.
func blank(text string) string {
	var spaces strings.Builder
	for _, c := range text {
		switch width := (&runewidth.Condition{}).RuneWidth(c); {
		case c == '\t':
			spaces.WriteRune(c)
		case width == 2:
			spaces.WriteRune('\u3000')
		case width == 1 || unicode.IsControl(c): // pages show a control character as another one
			spaces.WriteByte(' ')
		}
	}
	return spaces.String()
}
