package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// Size is the number of commits in a segment.
const Size = 1000

// Segment names an object with Size commits, as checkpoints name it. Commits, its last one included, prove what it holds:
// it is derived.
type Segment struct {
	First      int64  `json:"first"`
	Last       int64  `json:"last"`
	SHA256     string `json:"sha256"`        // of the object's bytes
	Names      int64  `json:"names"`         // length of the object's first part, which has the names
	LastCommit string `json:"commit_sha256"` // of the bytes of commit Last
	Object     []byte `json:"-"`             // the object's bytes, if it is not in the store yet; nil if it is there
}

// Name is what identifies a run, and little more.
type Name struct {
	lake.NamedCommit
	RunID   string            `json:"run_id"`
	Command string            `json:"command"`
	Pulled  bool              `json:"pulled,omitempty"` // the run pulled feeds, so that it may add versions
	Base    string            `json:"base,omitempty"`   // base URL of the feeds that the run pulled, if they have the same one
	Bases   map[string]string `json:"bases,omitempty"`  // base URLs by feed, if they differ
}

// NameOf returns the name of a commit. sha256 is that of its bytes.
func NameOf(c *lake.Commit, sha256 string) Name {
	n := Name{NamedCommit: lake.NamedCommit{Number: c.Number, SHA256: sha256, KnownAt: c.KnownAt}, RunID: c.RunID, Command: c.Command, Pulled: len(c.Feeds) > 0}
	for i := range c.Feeds {
		f := &c.Feeds[i]
		if i == 0 {
			n.Base = f.BaseURL
		}
		if f.BaseURL != n.Base && n.Bases == nil {
			n.Bases = map[string]string{}
		}
	}
	if n.Bases != nil {
		n.Base = ""
		for i := range c.Feeds {
			n.Bases[c.Feeds[i].Feed.String()] = c.Feeds[i].BaseURL
		}
	}
	return n
}

// head is the first line of each of the two parts of a segment.
type head struct {
	FormatVersion   int    `json:"format_version"`
	DealflowVersion string `json:"dealflow_version"`
	lake.Needs
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// Encode makes a segment of commits without a gap. lastSHA256 is that of the last one's bytes. The object has two parts,
// each compressed by itself: the names, and the commits without their files.
func Encode(commits []lake.Commit, lastSHA256 string) (*Segment, error) {
	first, last := &commits[0], &commits[len(commits)-1]
	top := head{
		FormatVersion: first.FormatVersion, DealflowVersion: last.DealflowVersion, Needs: lake.Needs{Requires: []string{lake.NeedRunSegments}},
		First: first.Number, Last: last.Number,
	}
	names, err := encodePart(top, namesOf(commits, lastSHA256))
	if err != nil {
		return nil, err
	}
	whole, err := encodePart(top, commits)
	if err != nil {
		return nil, err
	}
	object := slices.Concat(names, whole)
	return &Segment{First: top.First, Last: top.Last, SHA256: lake.SHA256(object), Names: int64(len(names)), LastCommit: lastSHA256, Object: object}, nil
}

// namesOf names commits without a gap. lastSHA256 is that of the last one's bytes.
func namesOf(commits []lake.Commit, lastSHA256 string) []Name {
	names := make([]Name, len(commits))
	for i := range commits {
		sha := lastSHA256
		if i+1 < len(commits) {
			sha = commits[i+1].PreviousSHA256
		}
		names[i] = NameOf(&commits[i], sha)
	}
	return names
}

func encodePart[T any](top head, lines []T) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	if err := enc.Encode(top); err != nil {
		return nil, err
	}
	for i := range lines {
		if err := enc.Encode(&lines[i]); err != nil {
			return nil, err
		}
	}
	return parquet.Compress(text.Bytes())
}

func (s *Segment) decodeNames(object []byte) ([]Name, error) {
	if err := s.check(object); err != nil {
		return nil, err
	}
	return decodePart(s, object[:s.Names], func(n *Name) int64 { return n.Number })
}

func (s *Segment) decodeCommits(object []byte) ([]lake.Commit, error) {
	if err := s.check(object); err != nil {
		return nil, err
	}
	return decodePart(s, object[s.Names:], func(c *lake.Commit) int64 { return c.Number })
}

func (s *Segment) check(object []byte) error {
	if s.Names < 0 || s.Names > int64(len(object)) || lake.SHA256(object) != s.SHA256 {
		return fmt.Errorf("it is not the segment of commits %d to %d that the checkpoint names", s.First, s.Last)
	}
	return nil
}

func decodePart[T any](s *Segment, part []byte, number func(*T) int64) ([]T, error) {
	text, err := parquet.Decompress(bytes.NewReader(part))
	if err != nil {
		return nil, err
	}
	top, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := lake.CheckPreface(top); err != nil {
		return nil, err
	}
	found := make([]T, 0, Size)
	for line := range bytes.Lines(rest) {
		var one T
		if err := jsonv2.Unmarshal(line, &one); err != nil {
			return nil, err
		}
		if got, want := number(&one), s.First+int64(len(found)); got != want {
			return nil, fmt.Errorf("it has commit %d where %d should be", got, want)
		}
		found = append(found, one)
	}
	if got, want := int64(len(found)), s.Last-s.First+1; got != want {
		return nil, fmt.Errorf("it has %d commits, want %d", got, want)
	}
	return found, nil
}
