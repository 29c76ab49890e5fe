package sql

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// We append a checksum after DuckDB's last block, which DuckDB ignores. Any DuckDB can write into a catalog. A catalog
// whose checksum does not match is never extended; it is built from scratch.
const (
	checksumPrefix = "\ndealflow sha256 "
	checksumSize   = len(checksumPrefix) + 2*sha256.Size
)

// errChecksum means that the previous catalog was written to or damaged. errNoChecksum means that it has no checksum: a
// program that did not append checksums built it, or it was changed.
var (
	errChecksum   = errors.New("it was changed after it was made")
	errNoChecksum = errors.New("it has no seal: an older program made it, or it was changed since")
)

// checksumTrailer formats the bytes to append for a checksum.
func checksumTrailer(sum []byte) []byte {
	return append([]byte(checksumPrefix), hex.EncodeToString(sum)...)
}

// appendChecksum appends the checksum to a complete catalog file.
func appendChecksum(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	_, err = file.Write(checksumTrailer(sum.Sum(nil)))
	return err
}

// copyVerified copies a catalog without its checksum. It fails if the checksum does not match.
func copyVerified(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - int64(checksumSize)
	if size < 0 {
		return errNoChecksum
	}
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(target, sum), source, size)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	found, err := io.ReadAll(source)
	switch {
	case err != nil:
		return err
	case !bytes.HasPrefix(found, []byte(checksumPrefix)):
		return errNoChecksum
	case !bytes.Equal(found, checksumTrailer(sum.Sum(nil))):
		return errChecksum
	}
	return nil
}
