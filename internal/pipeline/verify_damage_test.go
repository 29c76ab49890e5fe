package pipeline_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/tools/txtar"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestDamagedLakes does the damages of testdata/damaged to sound lakes, one by one: verify finds each,
// under the checks that the damage names and no others.
func TestDamagedLakes(t *testing.T) {
	t.Parallel()
	lakes := map[string]store.Store{"short": shortLake(t).store}
	lakes["long"] = longLake(t).store
	for _, s := range lakes {
		wantSound(t, s)
	}
	paths, err := filepath.Glob("../../testdata/damaged/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no damages: %v", err)
	}
	seen := map[verify.Check]bool{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			parts := map[string]string{}
			for _, part := range archive.Files {
				parts[part.Name] = string(part.Data)
			}
			damage := &damager{T: t}
			for line := range strings.Lines(parts["damage"]) {
				words := strings.Fields(line)
				if words[0] == "lake" {
					damage.store = copyStore(t, lakes[words[1]], new(memstore.Mem))
					continue
				}
				damage.do(words)
			}
			wantFindings(t, damage.store, verify.Config{}, parts["found without reading"], seen)
			wantFindings(t, damage.store, verify.Config{ReadData: true}, parts["found"], seen)
		})
	}
	for _, check := range verify.Checks() {
		if !seen[check] {
			t.Errorf("no damage is found by %s", check)
		}
	}
}

// wantFindings verifies a lake; want has a line for each check that shall find something, followed by a
// part of what it shall say. Those that are only notes begin with "note".
func wantFindings(t *testing.T, s store.Store, cfg verify.Config, want string, seen map[verify.Check]bool) {
	t.Helper()
	report, err := verify.Lake(t.Context(), s, cfg)
	if report == nil {
		t.Fatal(err)
	}
	damage := false
	wanted := map[verify.Check]bool{}
	for line := range strings.Lines(want) {
		check, says, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "note ")), " ")
		damage = damage || !strings.HasPrefix(line, "note ")
		wanted[verify.Check(check)] = true
		if !slices.ContainsFunc(report.Findings, func(f verify.Finding) bool {
			return string(f.Check) == check && (f.Severity == verify.Note) == strings.HasPrefix(line, "note ") && strings.Contains(finding(f), says)
		}) {
			t.Errorf("reading data: %t: no %s says %q", cfg.ReadData, check, says)
		}
	}
	if errors.Is(err, verify.ErrDamage) != damage || damage != (report.Damage > 0) {
		t.Errorf("reading data: %t: got %v, %d damages; want damage: %t", cfg.ReadData, err, report.Damage, damage)
	}
	for _, f := range report.Findings {
		seen[f.Check] = true
		if !wanted[f.Check] || t.Failed() {
			t.Errorf("reading data: %t: %s", cfg.ReadData, finding(f))
		}
		if f.Todo == "" || f.Path == "" {
			t.Errorf("%s says not where, or not what to do", finding(f))
		}
	}
}

var loanPriced = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Priced}

// shortLake has three nights: commit 1 adds; 2 changes deal 1 of bond/ig/priced, removes deal 2, and
// puts a record aside; 3 brings deal 2 back.
func shortLake(t *testing.T) *world {
	w, b := newBook(t)
	all := feeds(priced, expected, loanPriced)
	b.writeAll(priced, 1, 4, `"message":"A","banks":[{"name":"one","status":"lead"},{"name":"two"}]`)
	b.writeAll(expected, 1, 3, `"tranches":[{"name":"a"},{"name":"b"}]`)
	b.writeAll(loanPriced, 1, 2, `"tranches":[{"trancheId":1,"banks":[{"name":"x"},{"name":"y"}]},{"trancheId":2,"banks":[{"name":"z"}]}]`)
	w.night(t, 0, all, quiet)
	b.write(priced, 1, `"message":"B","banks":[{"name":"one"}]`)
	b.strike(priced, 2)
	b.writeBody(expected, 9, `{"id":9,"id":9}`)
	w.night(t, 1, all, quiet)
	b.strike(expected, 9)
	b.write(priced, 2, `"message":"A"`)
	w.night(t, 2, all, quiet)
	return w
}

// longLake has 51 commits, and so a checkpoint at 50: a night, syncs, and the compaction that so many of
// them bring about.
func longLake(t *testing.T) *world {
	w, b := newBook(t)
	one := feeds(expected)
	b.writeAll(expected, 1, 3, "")
	w.night(t, 0, one, quiet)
	for n := 0; w.log(t).Number < 51; n++ {
		w.later(5 * time.Minute)
		b.write(expected, 1, fmt.Sprintf(`"message":"%d"`, n))
		w.mustSync(t, one, quiet)
	}
	return w
}

// damager damages a lake as a script says, line by line. Objects are named by their keys, data files
// also as TABLE/MARKET@COMMIT.
type damager struct {
	*testing.T
	store store.Store
}

func (d *damager) do(words []string) {
	d.Helper()
	key := d.key(words[1])
	switch words[0] {
	case "flip": // KEY data|footer|structure|magic: one bit
		data := storetest.Bytes(d.T, d.store, key)
		at := map[string]int{"data": 40, "footer": bytes.LastIndex(data, []byte("dealflow lake format")), "structure": len(data) - 60, "magic": len(data) - 2}[words[2]]
		data[at] ^= 0x10
		d.put(key, data)
	case "truncate":
		data := storetest.Bytes(d.T, d.store, key)
		d.put(key, data[:len(data)/2])
	case "delete":
		d.check(d.store.Delete(d.Context(), key))
	case "copy": // KEY TO
		d.put(d.key(words[2]), storetest.Bytes(d.T, d.store, key))
	case "swap":
		other := d.key(words[2])
		one, two := storetest.Bytes(d.T, d.store, key), storetest.Bytes(d.T, d.store, other)
		d.put(key, two)
		d.put(other, one)
	case "replace": // KEY OLD NEW: a text
		d.put(key, bytes.Replace(storetest.Bytes(d.T, d.store, key), []byte(words[2]), []byte(words[3]), 1))
	case "write": // KEY TEXT
		d.put(key, []byte(strings.Join(words[2:], " ")+"\n"))
	case "rows": // FILE EDIT…: as if it had been committed so
		d.rows(key, words[2:])
	case "packed": // KEY OLD NEW: in what the object packs
		d.packed(key, words[2], words[3])
	case "commit": // KEY EDIT…: and the chain is mended
		d.commit(key, words[2:])
	default:
		d.Fatalf("unknown damage %q", words)
	}
}

func (d *damager) check(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *damager) put(key string, data []byte) {
	d.Helper()
	d.check(d.store.Put(d.Context(), key, bytes.NewReader(data), store.Replace))
}

// key finds the key of TABLE/MARKET@COMMIT or commit@N; others are keys.
func (d *damager) key(word string) string {
	d.Helper()
	name, number, named := strings.Cut(word, "@")
	if !named {
		return word
	}
	n, err := strconv.ParseInt(number, 10, 64)
	d.check(err)
	if keys := map[string]func(int64) string{"commit": lake.CommitKey, "checkpoint": lake.CheckpointKey, "state": lake.StateKey}; keys[name] != nil {
		return keys[name](n)
	}
	table, market, _ := strings.Cut(name, "/")
	for _, f := range d.read(n).Add {
		if f.Table == table && (f.Partition["market"] == market || table == lake.QuarantineTable) {
			return f.Path
		}
	}
	d.Fatalf("no file %s", word)
	return ""
}

func (d *damager) read(n int64) *lake.Commit {
	d.Helper()
	c, err := lake.DecodeCommit(storetest.Bytes(d.T, d.store, lake.CommitKey(n)))
	d.check(err)
	return c
}

// rechain passes all commits through edit and chains them anew, as if nobody had changed anything.
func (d *damager) rechain(edit func(*lake.Commit)) {
	d.Helper()
	sum := ""
	for n := int64(1); ; n++ {
		if _, err := d.store.Get(d.Context(), lake.CommitKey(n)); errors.Is(err, store.ErrNotFound) {
			return
		}
		c := d.read(n)
		edit(c)
		c.PreviousSHA256 = sum
		data, err := c.Encode()
		d.check(err)
		d.put(lake.CommitKey(n), data)
		sum = hexSum(data)
	}
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// commit edits a commit: known_at T, run_id first (that of commit 1), snapshot_date D, remove KEY, add
// FILE, forget FILE; and of a FILE that it adds: market M, folder M (in its path too), max ID, count N,
// schema N, rehash now.
func (d *damager) commit(key string, edit []string) {
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
			d.check(c.KnownAt.UnmarshalJSON([]byte(strconv.Quote(value))))
		case "run_id":
			c.RunID = d.read(1).RunID
		case "snapshot_date":
			c.SnapshotDate = value
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

func (d *damager) alter(f *lake.File, what, value string) {
	d.Helper()
	n, _ := strconv.ParseInt(value, 10, 64)
	switch what {
	case "market":
		f.Partition["market"] = value
	case "folder":
		body := storetest.Bytes(d.T, d.store, f.Path)
		d.check(d.store.Delete(d.Context(), f.Path))
		f.Path = strings.Replace(f.Path, "market="+f.Partition["market"], "market="+value, 1)
		f.Partition["market"] = value
		d.put(f.Path, body)
	case "max":
		f.MaxDealID = n
	case "count":
		f.Rows = n
	case "rehash":
		f.SHA256 = hexSum(storetest.Bytes(d.T, d.store, f.Path))
	case "schema":
		f.SchemaVersion = int(n)
	default:
		d.Fatalf("unknown edit %s", what)
	}
}

// packed replaces a text in what a packed object holds, and in its commit what is said of it. OLD and
// NEW are Go strings, so that they may hold any bytes.
func (d *damager) packed(key, old, replacement string) {
	d.Helper()
	from, err1 := strconv.Unquote(`"` + old + `"`)
	to, err2 := strconv.Unquote(`"` + replacement + `"`)
	dec, err3 := zstd.NewReader(nil)
	enc, err4 := zstd.NewWriter(nil)
	d.check(errors.Join(err1, err2, err3, err4))
	defer dec.Close()
	text, err := dec.DecodeAll(storetest.Bytes(d.T, d.store, key), nil)
	d.check(err)
	changed := bytes.Replace(text, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, text) {
		d.Fatalf("%s has no %q", key, from)
	}
	d.put(key, enc.EncodeAll(changed, nil))
	if !strings.HasPrefix(key, lake.CheckpointsPrefix) {
		d.recommit(key, func(*lake.File) {})
	}
}

// recommit has a file's commit say what its bytes are now.
func (d *damager) recommit(key string, edit func(*lake.File)) {
	d.Helper()
	data := storetest.Bytes(d.T, d.store, key)
	d.rechain(func(c *lake.Commit) {
		for i := range c.Add {
			if f := &c.Add[i]; f.Path == key {
				f.Bytes, f.SHA256 = int64(len(data)), hexSum(data)
				edit(f)
			}
		}
	})
}

// rows edits the rows of a file, numbered from 1, and its commit with it, so that only its rows tell:
// drop N, repeat N, swap N M, set N COLUMN VALUE (null for NULL), like N FILE M COLUMN (the value of row M
// of another file), column NAME (is dropped), meta KEY VALUE.
func (d *damager) rows(key string, edit []string) {
	d.Helper()
	fields, columns, meta := d.readFile(key)
	order := make([]int, columns[0].Len())
	for i := range order {
		order[i] = i
	}
	number := func(word string) int {
		n, err := strconv.Atoi(word)
		d.check(err)
		return n - 1
	}
	column := func(name string) int {
		return slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == name })
	}
	switch edit[0] {
	case "drop":
		order = slices.Delete(order, number(edit[1]), number(edit[1])+1)
	case "repeat":
		order = slices.Insert(order, number(edit[1]), number(edit[1]))
	case "swap":
		order[number(edit[1])], order[number(edit[2])] = order[number(edit[2])], order[number(edit[1])]
	case "set":
		c := column(edit[2])
		columns[c] = d.set(columns[c], number(edit[1]), d.value(columns[c].DataType(), edit[3]))
	case "like":
		_, others, _ := d.readFile(d.key(edit[2]))
		c := column(edit[4])
		columns[c] = d.set(columns[c], number(edit[1]), array.NewSlice(others[c], int64(number(edit[3])), int64(number(edit[3]))+1))
	case "column":
		c := column(edit[1])
		columns, fields = slices.Delete(columns, c, c+1), slices.Delete(fields, c, c+1)
	case "meta":
		meta[edit[1]] = edit[2]
	default:
		d.Fatalf("unknown edit %q", edit)
	}
	for i := range columns {
		columns[i] = pick(d.T, columns[i], order)
	}
	d.put(key, parquetOf(d.T, arrow.NewSchema(fields, nil), columns, meta))
	ids := columns[column("deal_id")].(*array.Int64).Int64Values()
	d.recommit(key, func(f *lake.File) {
		f.Rows, f.MinDealID, f.MaxDealID = int64(len(ids)), slices.Min(ids), slices.Max(ids)
	})
}

// readFile reads a Parquet file whole.
func (d *damager) readFile(key string) (fields []arrow.Field, columns []arrow.Array, meta map[string]string) {
	d.Helper()
	pf, err := file.NewParquetReader(bytes.NewReader(storetest.Bytes(d.T, d.store, key)))
	d.check(err)
	defer pf.Close()
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	d.check(err)
	table, err := fr.ReadTable(d.Context())
	d.check(err)
	defer table.Release()
	columns = make([]arrow.Array, table.NumCols())
	for i := range columns {
		columns[i], err = array.Concatenate(table.Column(i).Data().Chunks(), memory.DefaultAllocator)
		d.check(err)
	}
	meta = map[string]string{}
	for _, pair := range pf.MetaData().KeyValueMetadata() {
		meta[pair.Key] = pair.GetValue()
	}
	return table.Schema().Fields(), columns, meta
}

// value gives one value as an array.
func (d *damager) value(typ arrow.DataType, text string) arrow.Array {
	d.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	if text == "null" {
		b.AppendNull()
	} else {
		d.check(b.AppendValueFromString(text))
	}
	return b.NewArray()
}

// set gives a column with one value changed.
func (d *damager) set(column arrow.Array, row int, value arrow.Array) arrow.Array {
	d.Helper()
	got, err := array.Concatenate([]arrow.Array{
		array.NewSlice(column, 0, int64(row)), value, array.NewSlice(column, int64(row)+1, int64(column.Len())),
	}, memory.DefaultAllocator)
	d.check(err)
	return got
}

// pick gives the rows of a column in an order.
func pick(t *testing.T, column arrow.Array, order []int) arrow.Array {
	t.Helper()
	var parts []arrow.Array
	for _, i := range order {
		parts = append(parts, array.NewSlice(column, int64(i), int64(i)+1))
	}
	got, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func parquetOf(t *testing.T, schema *arrow.Schema, columns []arrow.Array, meta map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithStoreDecimalAsInteger(true)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		err = errors.Join(err, w.AppendKeyValueMetadata(key, meta[key]))
	}
	record := array.NewRecord(schema, columns, int64(columns[0].Len()))
	if err := errors.Join(err, w.Write(record), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
