package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/verify/copystore"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ErrDamage means that a lake differs from what its commits say; compare with errors.Is. The report says what is
// damaged and what to do.
var ErrDamage = errors.New("the lake is damaged")

// Config says how much Lake checks. The zero value checks the log, and the presence, size and footer of each file that
// it names.
type Config struct {
	ReadData bool // read every byte and every row too

	// If Slices is above 0, the files are divided into that many parts, and only part Slice (from 1) is read: its
	// bytes, and each file's rows by themselves. That many nights read all files. What files say about each other is
	// checked only without slices.
	Slice, Slices int

	// Catalog is the published catalog; nil: none is checked.
	Catalog PublishedCatalog

	Workers int              // feeds and markets whose rows are checked at once; default 4
	WorkDir string           // local folder for copies of a remote lake's files; default: the system's
	Memory  memory.Allocator // default: Go's

	// Lifter returns what brings the rows of a feed's older files under the present rules. It is needed where rows of
	// files of several schema versions are compared. *transform.Lifter is one.
	Lifter func(mem memory.Allocator, feed api.Feed) Lifter

	// ContentHash returns what computes content_hash (of lake.HashVersion) from payloads whose links are relative to base;
	// one goroutine at a time uses it. nil: content hashes are not computed. transform.ContentHash is one.
	ContentHash func(base api.Base) func(payload []byte) (lake.Digest, error)
}

// Lifter gives rows of files of older schema versions the values that the present rules give them, from the rows and
// from the payloads of their versions. It is used by one goroutine at a time.
type Lifter interface {
	// Remember reads a version's payload, whose links are relative to base. All payloads are remembered before rows are
	// lifted.
	Remember(dealID int64, version int32, base api.Base, payload []byte)
	// Lift returns a record's rows under the present rules, in the order of lake.Table.HistoryColumns. The caller
	// releases the result.
	Lift(table *lake.Table, record arrow.Record) arrow.Record
	// PayloadRows returns the rows of all payloads in a table that came after the first schema version, with the columns
	// of Lift. Release frees them.
	PayloadRows(table *lake.Table) []arrow.Record
	// Release frees memory.
	Release()
}

func (c Config) withDefaults() (Config, error) {
	if c.Slices < 0 || c.Slices > 0 && (!c.ReadData || c.Slice < 1 || c.Slice > c.Slices) {
		return c, fmt.Errorf("verify: got slice %d of %d with ReadData %t, want a slice from 1 to the number of slices, and ReadData", c.Slice, c.Slices, c.ReadData)
	}
	if c.Workers <= 0 {
		c.Workers = 4
	}
	if c.Memory == nil {
		c.Memory = memory.DefaultAllocator
	}
	return c, nil
}

// full says whether files are also compared with each other.
func (c *Config) full() bool { return c.ReadData && c.Slices == 0 }

// reads says whether a file's bytes are read. The path alone determines a file's slice.
func (c *Config) reads(path string) bool {
	if !c.ReadData || c.Slices == 0 {
		return c.ReadData
	}
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32()%uint32(c.Slices)) == c.Slice-1
}

// Lake checks the lake in a store against its commits. It takes a store because a lake with a damaged log cannot be
// opened. After damage it still checks everything that can be checked. It changes nothing; others may write at the same
// time.
//
// The report is not nil if the error is nil or ErrDamage. Any other error means that something could not be checked:
// load.ErrNoLake, a *lake.FormatError, the store's, the context's. It is joined to ErrDamage if damage was found too.
func Lake(ctx context.Context, s store.Store, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	files, err := copystore.New(s, cfg.WorkDir, cfg.ReadData)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	v := &verifier{store: s, files: files, cfg: cfg, findings: findings{}, counts: map[string]fileCounts{}, unsound: map[string]bool{}}
	if err := v.verify(ctx); err != nil {
		return nil, fmt.Errorf("verify %s: %w", s.URL(), err)
	}
	report := v.summary()
	faults := v.storeErrors
	if report.Damage > 0 {
		faults = append([]error{fmt.Errorf("%w: %s: %d findings", ErrDamage, s.URL(), report.Damage)}, faults...)
	}
	return report, errors.Join(faults...)
}

// verifier is one verification.
type verifier struct {
	store store.Store
	cfg   Config
	log   verifiedLog
	files *copystore.Store // the store of data files
	bytes atomic.Int64
	rows  atomic.Int64
	whole atomic.Int64 // files whose bytes were read

	versions int64
	garbage  load.Garbage
	lifters  map[api.Feed]Lifter // of feeds with a table whose files have several schema versions

	mu          sync.Mutex               // guards what follows
	bases       map[api.Feed]*lake.Bases // where runs pulled feeds from; empty if no data is read, or the log is broken
	findings    findings
	counts      map[string]fileCounts // of shared files, by path
	unsound     map[string]bool       // paths of files whose rows must not be checked
	unread      []string              // paths of files, or folders of the log, that the store did not give
	storeErrors []error               // one for each of them
}

// verify checks the log, then the files, then their rows: each step relies on what the step before found sound.
func (v *verifier) verify(ctx context.Context) error {
	if err := v.readLog(ctx); err != nil {
		return err
	}
	v.checkCatalog()
	if err := v.readBases(ctx); err != nil {
		return err
	}
	files := v.log.liveFiles()
	if err := v.checkFiles(ctx, files); err != nil {
		return err
	}
	if v.cfg.full() {
		if err := v.checkRows(ctx, files); err != nil {
			return err
		}
	}
	if err := v.checkTables(ctx); err != nil {
		return err
	}
	return ctx.Err() // what is read of local copies does not fail
}

// checkRows checks what the rows of files say about each other.
func (v *verifier) checkRows(ctx context.Context, files []lake.File) error {
	if err := v.startLifters(files); err != nil {
		return err
	}
	defer v.releaseLifters()
	indexes, err := v.checkVersions(ctx, files)
	if err != nil {
		return err
	}
	if err := v.checkStates(ctx, indexes); err != nil {
		return err
	}
	if err := v.checkVersionIndex(ctx, indexes); err != nil {
		return err
	}
	return v.checkFeeds(ctx, files, indexes)
}

// each calls work(i) for i in [0, n), on up to cfg.Workers goroutines. It returns the first error.
func (v *verifier) each(ctx context.Context, n int, work func(context.Context, int) error) error {
	return eachOf(ctx, n, v.cfg.Workers, work)
}

func eachOf(ctx context.Context, n, workers int, work func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return work(ctx, i)
		})
	}
	return group.Wait()
}

// report records a finding. It is safe for concurrent use.
func (v *verifier) report(f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.findings.add(f)
}

// markUnsound records that a file's rows must not be checked: they are not what was committed, or cannot be read.
func (v *verifier) markUnsound(f lake.File) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unsound[f.Path] = true
}

// markUnread records that the store did not give a file, or a folder of the log, and its error: the first one of each.
func (v *verifier) markUnread(path string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.unread, path) {
		v.unread, v.storeErrors = append(v.unread, path), append(v.storeErrors, err)
	}
}

// isSound says whether a file's rows may be checked.
func (v *verifier) isSound(f lake.File) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.unsound[f.Path]
}

// allSound says whether the rows of all files may be checked.
func (v *verifier) allSound(files []lake.File) bool {
	return !slices.ContainsFunc(files, func(f lake.File) bool { return !v.isSound(f) })
}

// recordReadError classifies an error from reading a file. A store that does not answer says nothing about the file, so
// it is no finding, but then the lake is not proved either. Any other error is a finding. It returns only the context's
// error.
func (v *verifier) recordReadError(ctx context.Context, f lake.File, watch *watchstore.Store, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	v.markUnsound(f)
	if fault := watch.Fault(); fault != nil {
		v.markUnread(f.Path, fmt.Errorf("read %s: %w", f.Path, fault))
		return nil
	}
	v.report(Finding{Check: FileReadable, Path: f.Path, Table: f.Table, Detail: err.Error()})
	return nil
}

// summary returns the report.
func (v *verifier) summary() *Report {
	r := &Report{
		Lake: v.store.URL(), Commit: v.log.Number, KnownAt: v.log.KnownAt, ReadData: v.cfg.ReadData, Slice: v.cfg.Slice, Slices: v.cfg.Slices,
		Checked: Checked{
			Commits: v.log.read, Files: int64(len(v.log.files)), FilesRead: v.whole.Load(), BytesRead: v.bytes.Load(), RowsRead: v.rows.Load(), Versions: v.versions,
		},
		Garbage: v.garbage,
		Unread:  append([]string{}, slices.Sorted(slices.Values(v.unread))...), // not null in JSON
	}
	v.findings.fill(r)
	return r
}
