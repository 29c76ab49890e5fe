package manifest

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/hamba/avro/v2"
)

// pair is an entry of an Avro file's header.
type pair struct{ key, value string }

// avroFile returns the bytes of an Avro object container file with the records, which are of the schema. The library's
// own writer draws a random marker and writes the header in a random order. Here the same input gives the same bytes.
func avroFile[T any](schema avro.Schema, text string, header []pair, records []T) ([]byte, error) {
	var body bytes.Buffer
	for i := range records {
		record, err := avro.Marshal(schema, &records[i])
		if err != nil {
			return nil, fmt.Errorf("encode as Avro: %w", err)
		}
		body.Write(record)
	}
	packed, err := deflate(body.Bytes())
	if err != nil {
		return nil, err
	}
	header = append([]pair{{"avro.schema", text}, {"avro.codec", "deflate"}}, header...)
	out := append([]byte("Obj\x01"), binary.AppendVarint(nil, int64(len(header)))...)
	appendText := func(text string) { out = append(binary.AppendVarint(out, int64(len(text))), text...) }
	for _, p := range header {
		appendText(p.key)
		appendText(p.value)
	}
	out = append(out, 0) // the header ends
	hash := sha256.New()
	hash.Write(out)
	hash.Write(packed)
	marker := hash.Sum(nil)[:16]
	out = append(out, marker...)
	if len(records) > 0 {
		out = binary.AppendVarint(out, int64(len(records)))
		appendText(string(packed))
		out = append(out, marker...)
	}
	return out, nil
}

// deflaters are writers to be used again: a new one allocates about a megabyte.
var deflaters sync.Pool

// deflate compresses data.
func deflate(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, ok := deflaters.Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(&packed, flate.DefaultCompression); err != nil {
			return nil, err
		}
	}
	defer deflaters.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
