package verify

import (
	"cmp"
	"slices"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// Severity says what a finding is worth.
type Severity string

const (
	// Damage means that the lake is not what was committed.
	Damage Severity = "damage"
	// Note means that nothing is lost or wrong, but worth knowing.
	Note Severity = "note"
)

// Report is what Verify found. Its JSON is what `dealflow verify --json` prints; fields are only ever
// added.
type Report struct {
	Lake     string       `json:"lake"`
	Commit   int64        `json:"commit"`   // the newest that can be read
	KnownAt  lake.Instant `json:"known_at"` // of that commit
	ReadData bool         `json:"read_data"`
	Slice    int          `json:"slice,omitempty"`  // the part of the files that was read, from 1
	Slices   int          `json:"slices,omitempty"` // of so many; absent: all
	Checked  Checked      `json:"checked"`
	Garbage  load.Garbage `json:"garbage"`
	Damage   int64        `json:"damage"`   // number of findings that are damage, also those not listed
	Notes    int64        `json:"notes"`    // number of the others
	Findings []Finding    `json:"findings"` // by check, path, table, deal and version; at most MaxListed of a check
	Unlisted []Unlisted   `json:"unlisted"` // how many more there are of a check
}

// Checked counts what was looked at.
type Checked struct {
	Commits   int64 `json:"commits"`    // read
	Files     int64 `json:"files"`      // that the log names: presence, size, footer
	FilesRead int64 `json:"files_read"` // of these, read whole
	BytesRead int64 `json:"bytes_read"` // of those
	RowsRead  int64 `json:"rows_read"`
	Versions  int64 `json:"versions"` // of deals, held against all tables; 0 unless all data was read
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Check    Check    `json:"check"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"`              // of the object, or of the folder of a partition
	Table    string   `json:"table,omitempty"`   // as commits name it: "history.bond_priced_deals"
	DealID   *int64   `json:"deal_id,omitempty"` // where it is about one deal
	Version  *int32   `json:"version,omitempty"`
	Detail   string   `json:"detail"` // what was found, and what was to be expected
	Todo     string   `json:"todo"`   // what to do now
}

// Unlisted counts findings of a check beyond those listed.
type Unlisted struct {
	Check Check `json:"check"`
	Count int64 `json:"count"`
}

// MaxListed bounds the findings of one check that a report lists.
const MaxListed = 100

// about says of which deal and version a finding is.
func (f Finding) about(deal int64, version int32) Finding {
	f.DealID, f.Version = &deal, &version
	return f
}

// findings collects by check, in bounded memory: the first MaxListed of each in the order of the report,
// whatever the order they come in.
type findings map[Check]*found

type found struct {
	count int64
	first []Finding
}

func (all findings) add(f Finding) {
	of := all[f.Check]
	if of == nil {
		of = &found{}
		all[f.Check] = of
	}
	rule := rules[f.Check]
	f.Severity = rule.severity
	if f.Todo == "" {
		f.Todo = rule.todo
	}
	of.count++
	of.first = append(of.first, f)
	if len(of.first) > 2*MaxListed {
		of.cut()
	}
}

// cut keeps the first.
func (of *found) cut() {
	slices.SortFunc(of.first, compareFindings)
	of.first = of.first[:min(len(of.first), MaxListed)]
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

// into fills the report's findings.
func (all findings) into(r *Report) {
	r.Findings, r.Unlisted = []Finding{}, []Unlisted{}
	for _, check := range Checks() {
		of := all[check]
		if of == nil {
			continue
		}
		of.cut()
		r.Findings = append(r.Findings, of.first...)
		if more := of.count - int64(len(of.first)); more > 0 {
			r.Unlisted = append(r.Unlisted, Unlisted{check, more})
		}
		if rules[check].severity == Damage {
			r.Damage += of.count
		} else {
			r.Notes += of.count
		}
	}
}
