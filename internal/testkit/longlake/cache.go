package longlake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"dealflow/schemas/lake"
)

// builderVersion must rise when the market, the flattening or this package gives other bytes, unless lake.SchemaVersion
// or lake.ParserVersion rises.
const builderVersion = 8

const (
	cacheFolder = "dealflow-tests"
	unfinished  = "building-"
	abandoned   = 24 * time.Hour // from this age on, an unfinished lake belongs to a process that died
)

// building lets the tests of one process build one after another.
var building sync.Mutex

// Open returns the folder of a lake, without a catalog. Each lake is built once and kept in the user's cache folder,
// for all tests and processes. Tests must not write there (see Clone). In full size building takes minutes.
func Open(tb testing.TB, config Config) string {
	tb.Helper()
	root, err := cached(tb.Context(), config.withDefaults())
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// cached returns the lake's folder. It builds the lake if there is none.
func cached(ctx context.Context, config Config) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder for lakes: %w", err)
	}
	root := filepath.Join(cache, cacheFolder, config.name())
	building.Lock()
	defer building.Unlock()
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	return root, buildAt(ctx, root, config)
}

// name distinguishes lakes by configuration and program.
func (c Config) name() string {
	quirks := *c.Quirks
	c.Quirks = nil // its address differs each time
	key := fmt.Appendf(nil, "%+v %+v %d %d %d %d", c, quirks, lake.FormatVersion, lake.SchemaVersion, lake.ParserVersion, builderVersion)
	return fmt.Sprintf("lake-%x", sha256.Sum256(key))[:len("lake-")+16]
}

// buildAt builds a lake in a temporary folder next to root and renames the complete lake to root. If several processes
// do so, all use the lake of the first to finish.
func buildAt(ctx context.Context, root string, config Config) (err error) {
	folder := filepath.Dir(root)
	if err := errors.Join(os.MkdirAll(folder, 0o755), removeAbandoned(folder)); err != nil {
		return err
	}
	beside, err := os.MkdirTemp(folder, unfinished)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	if _, err := Build(ctx, beside, config); err != nil {
		return err
	}
	// A folder is never renamed onto one that is not empty.
	if err := os.Rename(beside, root); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// removeAbandoned removes the unfinished lakes of builders that were killed.
func removeAbandoned(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, unfinished+"*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has removed it
		}
		if err != nil {
			return err
		}
		if time.Since(info.ModTime()) > abandoned {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}
