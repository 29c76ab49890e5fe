package world

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Damager damages a lake. Its scripts name an object by its key, a data file also as TABLE/MARKET@COMMIT, and
// the objects of the log also as commit@N, checkpoint@N and state@N. What goes wrong ends the test.
type Damager struct {
	testing.TB
	Store store.Store
}

// Do does one line of a script; the cases are the commands. testdata/damaged has scripts.
func (d *Damager) Do(line string) {
	d.Helper()
	words := strings.Fields(line)
	key := d.key(words[1])
	switch words[0] {
	case "flip": // KEY data|footer|structure|magic: one bit
		data := storetest.Bytes(d.TB, d.Store, key)
		at := map[string]int{"data": 40, "footer": bytes.LastIndex(data, []byte("dealflow lake format")), "structure": len(data) - 60, "magic": len(data) - 2}[words[2]]
		data[at] ^= 0x10
		d.Put(key, data)
	case "truncate":
		data := storetest.Bytes(d.TB, d.Store, key)
		d.Put(key, data[:len(data)/2])
	case "delete":
		d.Check(d.Store.Delete(d.Context(), key))
	case "copy": // KEY TO
		d.Put(d.key(words[2]), storetest.Bytes(d.TB, d.Store, key))
	case "swap":
		other := d.key(words[2])
		one, two := storetest.Bytes(d.TB, d.Store, key), storetest.Bytes(d.TB, d.Store, other)
		d.Put(key, two)
		d.Put(other, one)
	case "replace": // KEY OLD NEW: the first such text
		d.Put(key, bytes.Replace(storetest.Bytes(d.TB, d.Store, key), []byte(words[2]), []byte(words[3]), 1))
	case "write": // KEY TEXT
		d.Put(key, []byte(strings.Join(words[2:], " ")+"\n"))
	case "rows": // FILE EDIT…: see rows
		d.rows(key, words[2:])
	case "packed": // KEY OLD NEW: see packed
		d.packed(key, words[2], words[3])
	case "commit": // KEY EDIT…: see commit
		d.commit(key, words[2:])
	default:
		d.Fatalf("unknown damage %q", words)
	}
}

// Check ends the test on an error.
func (d *Damager) Check(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// Put replaces an object.
func (d *Damager) Put(key string, data []byte) {
	d.Helper()
	d.Check(d.Store.Put(d.Context(), key, bytes.NewReader(data), store.Replace))
}

// key returns the key of an object that a script names.
func (d *Damager) key(word string) string {
	d.Helper()
	name, number, named := strings.Cut(word, "@")
	if !named {
		return word
	}
	n, err := strconv.ParseInt(number, 10, 64)
	d.Check(err)
	if keys := map[string]func(int64) string{"commit": lake.CommitKey, "checkpoint": lake.CheckpointKey, "state": lake.StateKey}; keys[name] != nil {
		return keys[name](n)
	}
	table, market, _ := strings.Cut(name, "/")
	for _, f := range d.ReadCommit(n).Add {
		if f.Table == table && (f.HasMarket(api.Market(market)) || table == lake.QuarantineTable) {
			return f.Path
		}
	}
	d.Fatalf("no file %s", word)
	return ""
}

// ReadCommit reads a commit.
func (d *Damager) ReadCommit(n int64) *lake.Commit {
	d.Helper()
	c, err := lake.DecodeCommit(storetest.Bytes(d.TB, d.Store, lake.CommitKey(n)))
	d.Check(err)
	return c
}

// rechain edits all commits, and then writes the chain of their sums again: the chain shows no edit.
func (d *Damager) rechain(edit func(*lake.Commit)) {
	d.Helper()
	sum := ""
	for n := int64(1); ; n++ {
		body, err := d.Store.Get(d.Context(), lake.CommitKey(n))
		if errors.Is(err, store.ErrNotFound) {
			d.rehint(n-1, sum)
			return
		}
		d.Check(err)
		d.Check(body.Close())
		c := d.ReadCommit(n)
		edit(c)
		c.PreviousSHA256 = sum
		data, err := c.Encode()
		d.Check(err)
		d.Put(lake.CommitKey(n), data)
		sum = hexSum(data)
	}
}

// rehint writes the hash of the newest commit into a hint that names it.
func (d *Damager) rehint(newest int64, sum string) {
	d.Helper()
	hint := load.ReadHint(d.Context(), d.Store)
	if hint.Commit != newest || hint.SHA256 == "" {
		return
	}
	hint.SHA256 = sum
	data, err := json.Marshal(hint)
	d.Check(err)
	d.Put(lake.LatestKey, data)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// commit edits a commit, and the chain after it. Edits: known_at T, run_id first (that of commit 1),
// snapshot_date D, drift_kinds first (as the first programs reported drift), remove KEY, add FILE, forget FILE; and of a FILE that it adds: market FILE M, markets FILE M,M (of a shared one), folder FILE M
// (in its path too), max FILE ID, count FILE N, schema FILE N, rehash FILE now.
func (d *Damager) commit(key string, edit []string) {
	d.Helper()
	number, _ := lake.CommitNumber(key)
	other := ""
	if len(edit) > 2 || edit[0] == "add" || edit[0] == "forget" {
		other = d.key(edit[1])
	}
	var again lake.File
	d.rechain(func(c *lake.Commit) {
		i := slices.IndexFunc(c.Add, func(f lake.File) bool { return f.Path == other })
		if i >= 0 {
			again = c.Add[i]
		}
		if c.Number != number {
			return
		}
		switch value := edit[len(edit)-1]; edit[0] {
		case "known_at":
			d.Check(c.KnownAt.UnmarshalJSON([]byte(strconv.Quote(value))))
		case "run_id":
			c.RunID = d.ReadCommit(1).RunID
		case "snapshot_date":
			c.SnapshotDate = value
		case "drift_kinds":
			c.DriftKinds = nil
			for i := range c.Feeds {
				c.Feeds[i].Drift = slices.DeleteFunc(c.Feeds[i].Drift, func(d lake.Drift) bool { return !c.KnowsDrift(d.Kind) })
			}
		case "remove":
			c.Remove = append(c.Remove, value)
		case "add":
			c.Add = append(c.Add, again)
		case "forget":
			c.Add = slices.Delete(c.Add, i, i+1)
		default:
			d.alter(&c.Add[i], edit[0], value)
		}
	})
}

// alter edits what a commit says of a file that it adds.
func (d *Damager) alter(f *lake.File, what, value string) {
	d.Helper()
	n, _ := strconv.ParseInt(value, 10, 64)
	switch what {
	case "market":
		f.Partition["market"] = value
	case "markets":
		f.Partition["markets"] = value
	case "folder":
		d.move(f, "mkt", "market", value)
	case "year":
		d.move(f, "year", "year", value)
	case "max":
		f.MaxDealID = n
	case "count":
		f.Rows = n
	case "rehash":
		f.SHA256 = hexSum(storetest.Bytes(d.TB, d.Store, f.Path))
	case "schema":
		f.SchemaVersion = int(n)
	case "table":
		f.Table = value
	default:
		d.Fatalf("unknown edit %s", what)
	}
}

// move moves a file to the folder of another value, and edits its partition.
func (d *Damager) move(f *lake.File, folder, key, value string) {
	d.Helper()
	body := storetest.Bytes(d.TB, d.Store, f.Path)
	d.Check(d.Store.Delete(d.Context(), f.Path))
	f.Path = strings.Replace(f.Path, folder+"="+f.Partition[key], folder+"="+value, 1)
	f.Partition[key] = value
	d.Put(f.Path, body)
}

// packed replaces a text in a zstd object, and makes its commit agree. Both texts are Go strings without
// quotes, so that they can contain any bytes.
func (d *Damager) packed(key, old, replacement string) {
	d.Helper()
	from, err1 := strconv.Unquote(`"` + old + `"`)
	to, err2 := strconv.Unquote(`"` + replacement + `"`)
	dec, err3 := zstd.NewReader(nil)
	enc, err4 := zstd.NewWriter(nil)
	d.Check(errors.Join(err1, err2, err3, err4))
	defer dec.Close()
	text, err := dec.DecodeAll(storetest.Bytes(d.TB, d.Store, key), nil)
	d.Check(err)
	changed := bytes.Replace(text, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, text) {
		d.Fatalf("%s has no %q", key, from)
	}
	d.Put(key, enc.EncodeAll(changed, nil))
	if !strings.HasPrefix(key, lake.CheckpointsPrefix) {
		d.recommit(key, func(*lake.File) {})
	}
}

// recommit makes the commit of a file agree with the file's bytes, and edits it.
func (d *Damager) recommit(key string, edit func(*lake.File)) {
	d.Helper()
	data := storetest.Bytes(d.TB, d.Store, key)
	d.rechain(func(c *lake.Commit) {
		for i := range c.Add {
			if f := &c.Add[i]; f.Path == key {
				f.Bytes, f.SHA256 = int64(len(data)), hexSum(data)
				edit(f)
			}
		}
	})
}
