// Package sealed tells whether the file of a catalog is as it was made.
// Takes: local files. Gives: Seal, which appends a checksum; Intact, which compares it; Copy, which does so while it copies.
// Keeps: DuckDB ignores what is appended.
// Fails: ErrChanged, or the file system's errors.
// May change here: the form of the end, with the layout of catalogs.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"dealflow/schemas/lake"
)

// After DuckDB's last block, which DuckDB ignores, we append the line that names the commit (lake.NamedCommit.Line) and
// a checksum of all bytes before it. Any DuckDB can write into a catalog. A catalog whose checksum does not match is
// never extended and never answers a reader; it is built from scratch.

// ErrChanged means that a catalog is not as it was made: another program wrote into it, or it is damaged. A program that
// did not append checksums may have made it, too.
var ErrChanged = errors.New("its checksum does not match: it was changed after it was built")

// checksumTrailer formats the bytes to append for a checksum.
func checksumTrailer(sum []byte) []byte {
	return append([]byte(lake.ChecksumPrefix), hex.EncodeToString(sum)...)
}

// Seal appends the end to a complete catalog file: the commit line, unless the commit is not made yet, and the checksum.
func Seal(path string, shown lake.NamedCommit) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	var line []byte
	if shown.SHA256 != "" {
		line = []byte(shown.Line())
	}
	sum.Write(line)
	_, err = file.Write(append(line, checksumTrailer(sum.Sum(nil))...))
	return err
}

// Intact returns ErrChanged if the bytes of a catalog file are not those that were made.
func Intact(path string) error {
	_, err := hashCatalog(path, io.Discard)
	return err
}

// hashCatalog copies a catalog file without its checksum to a writer, and returns the size of DuckDB's part. It fails
// with ErrChanged if the checksum does not match.
func hashCatalog(path string, to io.Writer) (blocks int64, err error) {
	source, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	info, err := source.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size() - int64(lake.ChecksumSize)
	if size < 0 {
		return 0, ErrChanged
	}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(to, sum), source, size); err != nil {
		return 0, err
	}
	found, err := io.ReadAll(source)
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(found, checksumTrailer(sum.Sum(nil))) {
		return 0, ErrChanged
	}
	line := make([]byte, lake.CommitLineSize)
	if _, err := source.ReadAt(line, max(0, size-int64(len(line)))); err == nil {
		if _, named := lake.ParseCommitLine(string(line)); named {
			size -= int64(len(line))
		}
	}
	return size, nil
}

// Copy copies DuckDB's part of a catalog. It fails with ErrChanged if the checksum does not match.
func Copy(from, to string) error {
	target, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	blocks, err := hashCatalog(from, target)
	if err == nil {
		err = target.Truncate(blocks)
	}
	return errors.Join(err, target.Close())
}
