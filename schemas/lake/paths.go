package lake

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckPaths returns an error if the commit names a file outside the place that its table and partition give it. Readers
// and writers go by the partition, other programs by the path, so a path that does not agree is damage, and one outside
// the lake would have it read or deleted there.
func (c *Commit) CheckPaths() error {
	for i := range c.Add {
		if err := c.Add[i].CheckPath(c.FormatVersion); err != nil {
			return err
		}
	}
	for _, removed := range c.Remove {
		if err := checkRelative(removed); err != nil {
			return err
		}
	}
	return nil
}

// CheckPath returns an error unless the file's path is the one that its table and partition give it in a format version:
// their folder, and one more part.
func (f *File) CheckPath(format int) error {
	if err := checkRelative(f.Path); err != nil {
		return err
	}
	folder, err := f.Folder(format)
	if err != nil {
		return fmt.Errorf("path %q: %w", f.Path, err)
	}
	if dir, _ := path.Split(f.Path); strings.TrimSuffix(dir, "/") != folder {
		return fmt.Errorf("path %q: the file is in the wrong folder: by its table %s and partition, want %s", f.Path, f.Table, folder)
	}
	return nil
}

// checkRelative returns an error for a path that is not relative to the lake, or that another spelling of could name.
func checkRelative(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsRune(name, '\\') {
		return fmt.Errorf("path %q: want UTF-8 without control characters and backslashes", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("path %q: part %q, want names only, relative to the lake", name, part)
		}
	}
	return nil
}
