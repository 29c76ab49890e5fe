package config

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Prefix begins the name of each variable.
const Prefix = "DEALFLOW_"

// Kind says where a setting may be.
type Kind int

// The kinds.
const (
	Anywhere    Kind = iota // command line, environment, file
	NotInFile               // a secret, or what says which file and profile to read
	CommandLine             // what accepts, dates or destroys something once: see Once
)

// Setting is a flag of a command, or a value that has no flag. Its parts have "_" where flags have "-".
type Setting struct {
	Command string // words of the command without the program's name, such as "quarantine_list"; "" for all commands
	Name    string // such as "keep_days"
	Shared  bool   // of several commands with one meaning: there is also a name without the command
	Kind    Kind
	List    bool // the file may have a list, which means its entries with commas
}

// Variable is the name of its variable.
func (s Setting) Variable() string { return Prefix + strings.ToUpper(s.full()) }

// Key is its name in the file: "keep_days" in the section "expire" is "expire.keep_days".
func (s Setting) Key() string {
	if s.Command == "" {
		return s.Name
	}
	return s.Command + "." + s.Name
}

// Plain is the setting without its command: what it means for all commands that have it.
func (s Setting) Plain() Setting {
	s.Command, s.Shared = "", false
	return s
}

func (s Setting) full() string {
	if s.Command == "" {
		return s.Name
	}
	return s.Command + "_" + s.Name
}

// once are flags that date or destroy something once; a name with a command is of that command alone. All names that
// begin with "accept_" belong to them, too. Names are reserved here before a command has them.
var once = []string{"snapshot_date", "drop_day", "expire_feeds", "copy_until", "ddl_iceberg", "ddl_load", "export_full", "export_include_restated", "export_since", "export_to", "files_commit", "files_day", "files_since", "dry_run", "apply", "force", "now"}

// Once reports whether a flag accepts, dates or destroys something once. If it came from the environment or a file, it
// would do so in all later runs.
func Once(command, name string) bool {
	return strings.HasPrefix(name, "accept_") || slices.Contains(once, name) || slices.Contains(once, command+"_"+name)
}

// Suggest returns the known name that a wrong one most probably means, or "".
func Suggest(wrong string, known []string) string {
	for _, name := range known { // without its command
		if strings.HasSuffix(name, "_"+wrong) || strings.HasSuffix(name, "."+wrong) {
			return name
		}
	}
	if len(wrong) < 2 { // the beginning of too many names
		return ""
	}
	words := new(cobra.Command)
	for _, name := range known {
		words.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for words.SuggestionsMinimumDistance = 1; words.SuggestionsMinimumDistance <= 2; words.SuggestionsMinimumDistance++ {
		if near := words.SuggestionsFor(wrong); len(near) > 0 {
			return near[0]
		}
	}
	return ""
}

// DidYouMean returns a question about the name that a wrong one most probably means, with a space before it, or "" for none.
func DidYouMean(near string) string {
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}
