package workfolder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Special are the characters that DuckDB or its driver read as something else in a path. DuckDB takes the name and value of a column from
// each folder NAME=VALUE above a data file, and the first one counts: below day=2026-03-05 all snapshots would be of that day. The
// driver takes the path of a database and its options for a URL: after # it would pass over the options, and open a file to write.
const Special = "=%#?"

// Alias is a path of a folder that DuckDB reads as it is: a symbolic link in a folder for temporary files, if the folder's own path has
// a special character.
type Alias struct {
	path string
	made *Folder // the folder of the link; nil for none
}

// NewAlias returns the alias of a folder: its absolute path, or a link to it. It is an error if the folders for temporary files have a
// special character, too. The caller closes the alias.
func NewAlias(folder string) (*Alias, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(path, Special) {
		return &Alias{path: path}, nil
	}
	faults := []error{fmt.Errorf("%s: DuckDB would misread the path, which has one of %s, and no link to it could be made; set TMPDIR to a folder without these characters", folder, Special)}
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if strings.ContainsAny(parent, Special) {
			continue
		}
		alias, err := linkIn(parent, path)
		if err == nil {
			return alias, nil
		}
		faults = append(faults, err)
	}
	return nil, errors.Join(faults...)
}

// aliasPrefix begins the names of the folders of links.
const aliasPrefix = "dealflow-alias-"

// linkIn makes a link to a path in a new folder in parent. It removes those that processes left that died.
func linkIn(parent, path string) (*Alias, error) {
	_ = RemoveDead(parent, aliasPrefix, nil) // the next one tries again
	made, err := Create(parent, aliasPrefix)
	if err != nil {
		return nil, err
	}
	link := filepath.Join(made.Path(), "folder")
	if err := os.Symlink(path, link); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return &Alias{link, made}, nil
}

// Path is the alias.
func (a *Alias) Path() string { return a.path }

// Close removes the link. It does nothing for nil.
func (a *Alias) Close() error {
	if a == nil {
		return nil
	}
	return a.made.Close()
}
