package layoutfile

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestNew refuses databases that differ in more than the id, and blocks whose checksum DuckDB computes in another way.
func TestNew(t *testing.T) {
	t.Parallel()
	block := func(id string, rest byte) []byte {
		database := append(make([]byte, headersSize), bytes.Repeat([]byte{rest}, blockSize)...)
		copy(database[headersSize+1000:], "lake_"+id)
		binary.LittleEndian.PutUint64(database[headersSize:], blockChecksum(database[headersSize:]))
		return database
	}
	l, err := New(block(PlaceholderID, '.'), block(OtherID, '.'))
	if err != nil {
		t.Fatal(err)
	}
	if want := block("00ff00ff00ff", '.'); !bytes.Equal(l.ForLake("00ff00ff00ff"), want) {
		t.Error("the layout of a lake is not the database with its id")
	}
	database, digits, err := l.Pack()
	if err == nil {
		l, err = Unpack(database, digits)
	}
	if err != nil || !bytes.Equal(l.ForLake("00ff00ff00ff"), block("00ff00ff00ff", '.')) {
		t.Errorf("the layout is another one after it was packed: %v", err)
	}
	damaged := block(PlaceholderID, '.')
	damaged[headersSize] ^= 1
	for name, databases := range map[string][2][]byte{
		"another text":     {block(PlaceholderID, '.'), block(OtherID, '-')},
		"a digit more":     {block(PlaceholderID, '1'), block(OtherID, '3')},
		"another size":     {block(PlaceholderID, '.'), block(OtherID, '.')[:blockSize]},
		"another checksum": {damaged, block(OtherID, '.')},
	} {
		if _, err := New(databases[0], databases[1]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
