// Package dirstore stores a lake in a local folder.
// Takes: a folder on a filesystem with hard links.
// Gives: a store.Store whose objects are plain files, so that any tool can read them.
// Keeps: a file gets its name only when it is complete and on disk. It is written under a temporary name in the same
// folder and fsynced, then linked (create-only) or renamed; then the folder is fsynced.
// Fails: store.ErrNotFound, store.ErrExists, store.ErrChanged; a filesystem without hard links is refused, because
// create-only is not possible there.
// May change here: how durability is reached.
package dirstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"dealflow/load/store"
)

// Dir is a store in a folder. It is safe for concurrent use, also by several processes.
type Dir struct{ root string }

var (
	_ store.Store        = (*Dir)(nil)
	_ store.Local        = (*Dir)(nil)
	_ store.LaterLister  = (*Dir)(nil)
	_ store.RandomReader = (*Dir)(nil)
	_ store.Replacer     = (*Dir)(nil)
	_ store.Cleaner      = (*Dir)(nil)
	_ store.PutAwaiter   = (*Dir)(nil)
	_ store.Copier       = (*Dir)(nil)
)

// New returns the store in the folder root. The folder need not exist: the first Put creates it.
func New(root string) (*Dir, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("lake folder: %w", err)
	}
	if err := CheckPath(abs); err != nil {
		return nil, fmt.Errorf("lake folder %w", err)
	}
	return &Dir{root: abs}, nil
}

// CheckPath returns an error if a path cannot be that of a catalog: for DuckDB a name ends before a question mark, and is
// text. Quotes or blanks around a path are from a file of variables, which keeps them: the path would be that of another
// folder, in the present one. The error does not show the path, because an address in quotes may have a password.
func CheckPath(path string) error {
	switch {
	case strings.Trim(path, " '\"") != path:
		return errors.New("want a path without quotes or blanks around it")
	case strings.ContainsFunc(path, unicode.IsControl):
		return errors.New("want a path without control characters, such as a newline")
	case strings.Contains(path, "?"):
		return errors.New("want a path without ?, which DuckDB does not open")
	case !utf8.ValidString(path):
		return errors.New("want a path in UTF-8")
	}
	return nil
}

// URL is the folder's absolute path.
func (d *Dir) URL() string { return d.root }

// Path implements store.Local.
func (d *Dir) Path() string { return d.root }

func (d *Dir) path(key string) (string, error) {
	if err := store.CheckKey(key); err != nil {
		return "", err
	}
	return filepath.Join(d.root, filepath.FromSlash(key)), nil
}

// Put implements store.Store.
func (d *Dir) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	publish := d.replace
	if mode == store.CreateOnly {
		publish = link
	}
	if err := d.put(ctx, key, body, publish); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// put writes body to a temporary file in the object's folder. publish then gives the finished file its name.
func (d *Dir) put(ctx context.Context, key string, body io.ReadSeeker, publish func(from, to string) error) (err error) {
	name, err := d.path(key)
	if err != nil {
		return err
	}
	folder := filepath.Dir(name)
	temp, err := createTemp(folder)
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.Remove(temp.Name()); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	if err := fill(ctx, temp, body); err != nil {
		return err
	}
	if err := publish(temp.Name(), name); err != nil {
		return err
	}
	return syncFolder(folder)
}

// createTemp creates a temporary file in a folder, and the folder if need be. A deletion may remove an empty folder at any time until the file is in it.
// The file gets the permissions that the process's umask leaves: a group may share a lake.
func createTemp(folder string) (temp *os.File, err error) {
	for range triesToCreate {
		if err = makeFolder(folder); err == nil {
			temp, err = os.OpenFile(filepath.Join(folder, store.TempPrefix+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return temp, err
}

// triesToCreate is more often than a folder is removed while a file is created in it: a deletion removes each folder once.
const triesToCreate = 100

// fill writes body to the file, makes it durable, and closes it.
func fill(ctx context.Context, file *os.File, body io.Reader) error {
	_, err := io.Copy(file, &contextReader{ctx, body})
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// link makes to another name of from, unless there is a file of that name. On NFS the answer of a link may be lost, and its
// repetition finds the file that it has made itself: then it is the same file.
func link(from, to string) error {
	err := os.Link(from, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		if isSame(from, to) {
			return nil
		}
		return store.ErrExists
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: the filesystem does not support hard links, which a safe commit needs; put the lake on another filesystem", err)
	}
	return err
}

// isSame reports whether two names are of one file.
func isSame(a, b string) bool {
	first, err := os.Lstat(a)
	if err != nil {
		return false
	}
	second, err := os.Lstat(b)
	return err == nil && os.SameFile(first, second)
}

// makeFolder creates a folder and its parents. Each is durable in its parent when it returns.
func makeFolder(folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	parent := filepath.Dir(folder)
	if err := makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements store.Store.
func (d *Dir) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	f, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenAt implements store.RandomReader.
func (d *Dir) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	f, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d *Dir) open(ctx context.Context, key string) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, err := d.path(key)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return f, nil
}

// List implements store.Store.
func (d *Dir) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return d.ListAfter(ctx, prefix, "")
}

// ListAfter implements store.LaterLister. It reads the names of all files, and asks for size and date of the later ones alone.
func (d *Dir) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		objects, err := d.walk(ctx, prefix, after)
		if err != nil {
			yield(store.Object{}, fmt.Errorf("list %s: %w", prefix, err))
			return
		}
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// walk returns the objects under a prefix whose keys are after another one, in the order of keys.
func (d *Dir) walk(ctx context.Context, prefix, after string) ([]store.Object, error) {
	start := d.root
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		start = filepath.Join(d.root, filepath.FromSlash(prefix[:i]))
	}
	wanted := func(key string, folder bool) bool {
		if folder { // unless nothing in it has the prefix, or is after the key
			key += "/"
			return (strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)) && (key > after || strings.HasPrefix(after, key))
		}
		return key > after && strings.HasPrefix(key, prefix) && !strings.HasPrefix(path.Base(key), store.TempPrefix)
	}
	var objects []store.Object
	err := d.files(ctx, start, wanted, func(key string, info fs.FileInfo) {
		objects = append(objects, store.Object{Key: key, Size: info.Size(), Modified: info.ModTime()})
	})
	slices.SortFunc(objects, func(a, b store.Object) int { return strings.Compare(a.Key, b.Key) })
	return objects, err
}

// files calls found for each wanted file under a folder, unfinished ones too, and enters the wanted folders. It skips files
// that vanish during the walk. The folder may be a symbolic link; links below it are not followed.
func (d *Dir) files(ctx context.Context, start string, wanted func(key string, folder bool) bool, found func(key string, info fs.FileInfo)) error {
	resolved, err := filepath.EvalSymlinks(start)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(resolved); err == nil && !info.IsDir() {
		return nil // a file has nothing below it
	}
	within, err := filepath.Rel(d.root, start)
	if err != nil {
		return err
	}
	prefix := ""
	if within != "." {
		prefix = filepath.ToSlash(within) + "/"
	}
	return enter(ctx, resolved, prefix, wanted, found)
}

// namesAtOnce is the number of names that are read of a folder before more memory is asked for.
const namesAtOnce = 1000

// enter is files for a folder and the prefix of the keys in it. It takes names as they come: a folder of commits has half a
// million of them, and they need no order here.
func enter(ctx context.Context, folder, prefix string, wanted func(key string, folder bool) bool, found func(key string, info fs.FileInfo)) (err error) {
	f, err := os.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := f.ReadDir(namesAtOnce)
		for _, entry := range entries {
			if err := enterEntry(ctx, folder, prefix, entry, wanted, found); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func enterEntry(ctx context.Context, folder, prefix string, entry fs.DirEntry, wanted func(key string, folder bool) bool, found func(key string, info fs.FileInfo)) error {
	key := prefix + entry.Name()
	switch want := wanted(key, entry.IsDir()); {
	case !want:
		return nil
	case entry.IsDir():
		return enter(ctx, filepath.Join(folder, entry.Name()), key+"/", wanted, found)
	}
	info, err := entry.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		found(key, info)
	}
	return err
}

// AwaitPuts implements store.PutAwaiter: it waits, and then lists the folder again.
func (d *Dir) AwaitPuts(ctx context.Context, prefix string) error {
	if err := store.Pause(ctx, store.PutsWait); err != nil {
		return err
	}
	for _, err := range d.List(ctx, prefix) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete implements store.Store.
func (d *Dir) Delete(ctx context.Context, keys ...string) error {
	var faults []error
	for _, key := range keys {
		name, err := d.path(key)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = os.Remove(name)
		}
		if err == nil {
			d.removeEmpty(filepath.Dir(name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("delete %s: %w", key, err))
		}
	}
	return errors.Join(faults...)
}

// removeEmpty removes the folders of partitions (day=…, mkt=…) from this one up that have become empty: a lake has a hundred more of them each
// night. Another command may remove them, or put a file into them, at the same time. A link to a folder elsewhere stays.
func (d *Dir) removeEmpty(folder string) {
	for folder != d.root && strings.Contains(filepath.Base(folder), "=") && syscall.Rmdir(folder) == nil {
		folder = filepath.Dir(folder)
	}
}

// contextReader fails with the context's error after the context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
