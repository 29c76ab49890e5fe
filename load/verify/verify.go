package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ErrDamage says that a lake is not what its commits say; compare with errors.Is. The report names what
// is damaged and what to do.
var ErrDamage = errors.New("the lake is damaged")

// Config says how deeply Lake looks. The zero value looks at the log, and at the presence, size
// and footer of each file that it names.
type Config struct {
	ReadData bool // read every byte and every row too

	// With Slices above 0 only the Slice-th (from 1) of so many parts of the files is read: its bytes, and
	// what its rows say by themselves. So many nights cover all files; what files say of each other is
	// checked only without slices.
	Slice, Slices int

	Workers int              // files looked at side by side; default 4
	Memory  memory.Allocator // default: Go's
}

func (c Config) withDefaults() (Config, error) {
	if c.Slices < 0 || c.Slices > 0 && (!c.ReadData || c.Slice < 1 || c.Slice > c.Slices) {
		return c, fmt.Errorf("verify: slice %d of %d: want one from 1 to the number of slices, and data to be read", c.Slice, c.Slices)
	}
	if c.Workers <= 0 {
		c.Workers = 4
	}
	if c.Memory == nil {
		c.Memory = memory.DefaultAllocator
	}
	return c, nil
}

// full says whether files are also held against each other.
func (c *Config) full() bool { return c.ReadData && c.Slices == 0 }

// reads says whether a file's bytes are read: its slice is fixed by its path.
func (c *Config) reads(path string) bool {
	if !c.ReadData || c.Slices == 0 {
		return c.ReadData
	}
	h := fnv.New32a()
	h.Write([]byte(path))
	return int(h.Sum32()%uint32(c.Slices)) == c.Slice-1
}

// Lake checks the lake in a store against what its commits say. It takes a store because a lake whose
// log is damaged cannot be opened; it goes on past damage to whatever can still be checked, and changes
// nothing. Others may write meanwhile.
//
// The report is there wherever the error is nil or ErrDamage. Another error says that something could
// not be looked at: load.ErrNoLake, a *lake.FormatError, the store's, the context's; joined to ErrDamage where
// damage was found besides.
func Lake(ctx context.Context, s store.Store, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &verifier{store: s, cfg: cfg, findings: findings{}, unsound: map[string]bool{}}
	if err := v.verify(ctx); err != nil {
		return nil, fmt.Errorf("verify %s: %w", s.URL(), err)
	}
	report := v.report()
	faults := v.unreadable
	if report.Damage > 0 {
		faults = append([]error{fmt.Errorf("%w: %s: %d findings", ErrDamage, s.URL(), report.Damage)}, faults...)
	}
	return report, errors.Join(faults...)
}

// verifier is one verification under way.
type verifier struct {
	store store.Store
	cfg   Config
	log   verifiedLog
	bytes atomic.Int64
	rows  atomic.Int64
	files atomic.Int64 // whose bytes were read

	versions int64
	garbage  load.Garbage

	mu         sync.Mutex // guards what follows
	findings   findings
	unsound    map[string]bool // files whose rows are not to be looked at
	unreadable []error         // of the store, while reading files
}

// verify goes from the log to the files to their rows, so that each step stands on what the one before
// has found sound.
func (v *verifier) verify(ctx context.Context) error {
	if err := v.readLog(ctx); err != nil {
		return err
	}
	files := v.log.liveFiles()
	if err := v.checkFiles(ctx, files); err != nil {
		return err
	}
	if !v.cfg.full() {
		return nil
	}
	indexes, err := v.checkVersions(ctx, files)
	if err != nil {
		return err
	}
	if err := v.checkStates(ctx, indexes); err != nil {
		return err
	}
	return v.checkFeeds(ctx, files, indexes)
}

// each calls work for 0 to n-1, so many side by side as there are workers.
func (v *verifier) each(ctx context.Context, n int, work func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(v.cfg.Workers)
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

// find notes a finding.
func (v *verifier) find(f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.findings.add(f)
}

// spoil notes that a file's rows are not to be looked at: they are not what was committed, or cannot be
// read.
func (v *verifier) spoil(f lake.File) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unsound[f.Path] = true
}

// sound says whether a file's rows may be looked at.
func (v *verifier) sound(f lake.File) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.unsound[f.Path]
}

// allSound says so of several.
func (v *verifier) allSound(files []lake.File) bool {
	return !slices.ContainsFunc(files, func(f lake.File) bool { return !v.sound(f) })
}

// stumble judges what went wrong with reading a file. The error is one that ends the verification: the
// context's. A store that does not answer says nothing about the file, so it is no finding, but what
// was found does not prove the lake either.
func (v *verifier) stumble(ctx context.Context, f lake.File, watch *watch, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	v.spoil(f)
	if fault := watch.fault(); fault != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.unreadable = append(v.unreadable, fmt.Errorf("read %s: %w", f.Path, fault))
		return nil
	}
	v.find(Finding{Check: FileReadable, Path: f.Path, Table: f.Table, Detail: err.Error()})
	return nil
}

// report sums up.
func (v *verifier) report() *Report {
	r := &Report{
		Lake: v.store.URL(), Commit: v.log.Number, KnownAt: v.log.KnownAt, ReadData: v.cfg.ReadData, Slice: v.cfg.Slice, Slices: v.cfg.Slices,
		Checked: Checked{
			Commits: v.log.read, Files: int64(len(v.log.files)), FilesRead: v.files.Load(), BytesRead: v.bytes.Load(), RowsRead: v.rows.Load(), Versions: v.versions,
		},
		Garbage: v.garbage,
	}
	v.findings.into(r)
	return r
}
