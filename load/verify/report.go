package verify

import (
	"cmp"
	"slices"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// Severity says how bad a finding is.
type Severity string

const (
	// Damage means that the lake differs from what was committed.
	Damage Severity = "damage"
	// Note means that nothing is lost or wrong, but that the reader should know.
	Note Severity = "note"
)

// Report is the result of Lake. Its JSON is what `dealflow verify --json` prints; fields are only ever added.
type Report struct {
	Lake     string       `json:"lake"`
	Commit   int64        `json:"commit"`   // the newest readable one
	KnownAt  lake.Instant `json:"known_at"` // of that commit
	ReadData bool         `json:"read_data"`
	Slice    int          `json:"slice,omitempty"`  // the part of the files that was read, from 1
	Slices   int          `json:"slices,omitempty"` // number of parts; absent: all files were read
	Checked  Checked      `json:"checked"`
	Garbage  load.Garbage `json:"garbage"`
	Damage   int64        `json:"damage"`   // number of findings that are damage, also those not listed
	Notes    int64        `json:"notes"`    // number of the others
	Findings []Finding    `json:"findings"` // by check, path, table, deal and version; at most MaxListed of a check
	Unlisted []Unlisted   `json:"unlisted"` // for checks with more than MaxListed findings
	Unread   []string     `json:"unread"`   // files, or folders of the log, that the store did not give: they are neither damaged nor proved
}

// Checked counts what was checked.
type Checked struct {
	Commits   int64 `json:"commits"`    // read
	Files     int64 `json:"files"`      // that the log names: presence, size, footer
	FilesRead int64 `json:"files_read"` // those of which every byte was read
	BytesRead int64 `json:"bytes_read"` // of FilesRead
	RowsRead  int64 `json:"rows_read"`
	Versions  int64 `json:"versions"` // of deals, compared with all tables; 0 unless all data was read
}

// Finding is one fact about the lake that is not as it should be.
type Finding struct {
	Check    Check    `json:"check"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`              // of the object, or of the folder of a partition
	Table    string   `json:"table,omitempty"`   // as commits name it: "history.bond_priced_deals"
	DealID   *int64   `json:"deal_id,omitempty"` // for a finding about one deal
	Version  *int32   `json:"version,omitempty"`
	Detail   string   `json:"detail"` // what was found, and what was expected
	Todo     string   `json:"todo"`   // what to do now
}

// Unlisted counts the findings of a check that are not listed.
type Unlisted struct {
	Check Check `json:"check"`
	Count int64 `json:"count"`
}

// MaxListed is the greatest number of findings of one check that a report lists.
const MaxListed = 100

// about returns the finding with the deal and version that it is about.
func (f Finding) about(deal int64, version int32) Finding {
	f.DealID, f.Version = &deal, &version
	return f
}

// findings collects findings by check in bounded memory. It keeps the first MaxListed of each check in the order of the
// report, whatever order they are found in.
type findings map[Check]*checkFindings

type checkFindings struct {
	count int64     // of all
	first []Finding // not sorted; up to 2*MaxListed
}

func (all findings) add(f Finding) {
	found := all[f.Check]
	if found == nil {
		found = &checkFindings{}
		all[f.Check] = found
	}
	rule := rules[f.Check]
	f.Severity = rule.severity
	if f.Todo == "" {
		f.Todo = rule.todo
	}
	if f.Todo == restoreFile {
		f.Todo = restoreTodo(f.Path)
	}
	found.count++
	found.first = append(found.first, f)
	if len(found.first) > 2*MaxListed {
		found.cut()
	}
}

// cut sorts the findings and keeps the first MaxListed.
func (c *checkFindings) cut() {
	slices.SortFunc(c.first, compareFindings)
	c.first = c.first[:min(len(c.first), MaxListed)]
}

func compareFindings(a, b Finding) int {
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	version := func(n *int32) int32 {
		if n == nil {
			return 0
		}
		return *n
	}
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Table, b.Table), cmp.Compare(number(a.DealID), number(b.DealID)),
		cmp.Compare(version(a.Version), version(b.Version)), cmp.Compare(a.Detail, b.Detail))
}

// fill sets the report's findings and counts.
func (all findings) fill(r *Report) {
	r.Findings, r.Unlisted = []Finding{}, []Unlisted{}
	for _, check := range Checks() {
		found := all[check]
		if found == nil {
			continue
		}
		found.cut()
		r.Findings = append(r.Findings, found.first...)
		if more := found.count - int64(len(found.first)); more > 0 {
			r.Unlisted = append(r.Unlisted, Unlisted{check, more})
		}
		if rules[check].severity == Damage {
			r.Damage += found.count
		} else {
			r.Notes += found.count
		}
	}
}
