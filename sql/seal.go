package sql

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// A catalog that was made is sealed: behind its last block, where DuckDB does not look, stands what its bytes add up
// to. Any DuckDB can write into a catalog; one whose seal is broken is not gone on from.
const (
	sealWord = "\ndealflow sha256 "
	sealSize = len(sealWord) + 2*sha256.Size
)

// errChanged says that somebody wrote into an earlier catalog, or damaged it; errUnsealed, that it may be one of a
// program that did not seal them.
var (
	errChanged  = errors.New("it was changed after it was made")
	errUnsealed = errors.New("it has no seal: an older program made it, or it was changed since")
)

// sealOf writes the seal of bytes with the given sum.
func sealOf(sum []byte) []byte {
	return append([]byte(sealWord), hex.EncodeToString(sum)...)
}

// seal seals a catalog that is otherwise made.
func seal(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	_, err = file.Write(sealOf(sum.Sum(nil)))
	return err
}

// unseal copies a sealed catalog without its seal, if it is as it was sealed.
func unseal(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	size := info.Size() - int64(sealSize)
	if size < 0 {
		return errUnsealed
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
	case !bytes.HasPrefix(found, []byte(sealWord)):
		return errUnsealed
	case !bytes.Equal(found, sealOf(sum.Sum(nil))):
		return errChanged
	}
	return nil
}
