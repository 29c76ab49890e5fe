package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// PublishedCatalog returns a local file with the lake's published catalog; "" if none is published. The file is valid
// until the next call or Close. end is what the lake says of the catalog (load.Lake.PublishedCatalog): with it a copy in the
// cache, or the packed catalog, is used if it has the same bytes. With a zero end the catalog itself is read.
func (m *Mirror) PublishedCatalog(ctx context.Context, end lake.CatalogEnd) (path string, err error) {
	if m.IsLake() {
		path = filepath.Join(m.Root(), lake.CatalogKey)
		if _, err = os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		return path, err
	}
	path = filepath.Join(m.work, lake.CatalogKey)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if end.Checksum != "" {
		cached := m.cache.catalogPath(end.Checksum)
		if os.Link(cached, path) == nil {
			if isSealed(path, end) {
				return path, nil
			}
			if err := errors.Join(os.Remove(path), os.Remove(cached)); err != nil { // the disk has lost it
				return "", err
			}
		}
		if err := m.unpack(ctx, end, path); err == nil {
			_ = os.Link(path, cached) // the next command then need not download it
			return path, m.cache.makeRoom()
		} else if ctx.Err() != nil {
			return "", ctx.Err()
		}
		// The packed catalog is absent, of another catalog or damaged: the plain one is what counts.
	}
	err = m.download(ctx, lake.CatalogKey, path)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return path, err
}

// KeepCatalog adds a complete catalog file to the cache, as Keep adds data files.
func (c *Cache) KeepCatalog(local string) {
	if end, err := catalogEnd(local); err == nil && os.Link(local, c.catalogPath(end.Checksum)) == nil {
		_ = c.makeRoom() // the next Fetch tries again
	}
}

// catalogPath is where the cache has the catalog with a checksum. Readers check the checksum before they use it.
func (c *Cache) catalogPath(checksum string) string { return filepath.Join(c.dir, checksum) }

// catalogEnd reads the end of a local catalog file.
func catalogEnd(path string) (end lake.CatalogEnd, err error) {
	file, err := os.Open(path)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return end, err
	}
	text := make([]byte, lake.CatalogEndSize)
	if _, err := file.ReadAt(text, max(0, info.Size()-int64(len(text)))); err != nil {
		return end, err
	}
	end, ok := lake.ParseCatalogEnd(string(text))
	if !ok {
		return end, errNotNamed
	}
	return end, nil
}

var errNotNamed = errors.New("the catalog does not name its commit")

// isSealed says whether a catalog file has the bytes of the catalog with an end.
func isSealed(path string, end lake.CatalogEnd) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	return errors.Join(copySealed(io.Discard, file, end), file.Close()) == nil
}

// A packed catalog begins with a skippable frame (RFC 8878, 3.1.2), which every zstd ignores, with the end of the catalog:
// so a reader knows from the first bytes which catalog it is. The catalog follows, in one frame.
const (
	skippable      = 0x184D2A50
	skippableBytes = 8 // magic number and size
)

var (
	errOtherCatalog = errors.New("the packed catalog is of another catalog")
	errWrongBytes   = errors.New("its bytes are not those of the catalog that it names")
)

// PackCatalog writes the packed form of a local catalog file. A catalog that does not name its commit cannot be packed.
func PackCatalog(path string, to io.Writer) (err error) {
	end, err := catalogEnd(path)
	if err != nil {
		return fmt.Errorf("pack the catalog: %w", err)
	}
	head := binary.LittleEndian.AppendUint32(nil, skippable)
	head = binary.LittleEndian.AppendUint32(head, uint32(lake.CatalogEndSize))
	head = append(append(append(head, end.Line()...), lake.ChecksumPrefix...), end.Checksum...)
	if _, err := to.Write(head); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packer, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	_, err = io.Copy(packer, file)
	return errors.Join(err, packer.Close())
}

// CheckPacked returns why the packed catalog is damaged; nil if it is not, is absent, or is of another catalog than the plain
// one, which is a local file. In each of these cases commands read the right bytes. err is the store's.
func CheckPacked(ctx context.Context, s store.Store, plain string) (damage, err error) {
	end, err := catalogEnd(plain)
	if err != nil {
		return nil, nil //nolint:nilerr // it names no commit, so no packed catalog is of it
	}
	packed, err := store.Read(ctx, s, lake.PackedCatalogKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	damage = unpackTo(io.Discard, bytes.NewReader(packed), end)
	if damage == nil || errors.Is(damage, errOtherCatalog) {
		return nil, nil
	}
	return fmt.Errorf("%s: %w; `dealflow catalog` puts it again", lake.PackedCatalogKey, damage), nil
}

// unpack downloads the packed catalog to a local file, if it is of the catalog with an end, and all bytes are right.
func (m *Mirror) unpack(ctx context.Context, end lake.CatalogEnd, path string) (err error) {
	from, err := m.store.Get(ctx, lake.PackedCatalogKey)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, to.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	return unpackTo(to, from, end)
}

// unpackTo unpacks a packed catalog, if it is of the catalog with an end.
func unpackTo(to io.Writer, from io.Reader, end lake.CatalogEnd) error {
	head := make([]byte, skippableBytes+lake.CatalogEndSize)
	if _, err := io.ReadFull(from, head); err != nil {
		return err
	}
	if found, ok := lake.ParseCatalogEnd(string(head[skippableBytes:])); !ok || found.Checksum != end.Checksum || binary.LittleEndian.Uint32(head) != skippable {
		return errOtherCatalog
	}
	unpacker, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return err
	}
	defer unpacker.Close()
	return copySealed(to, unpacker, end)
}

// copySealed copies a catalog and checks that it is the one with an end, without reading the copy again.
func copySealed(to io.Writer, from io.Reader, end lake.CatalogEnd) error {
	sum := sha256.New()
	var last []byte // up to ChecksumSize bytes, which are not part of the sum
	buf := make([]byte, 256<<10)
	for {
		n, err := from.Read(buf)
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
		last = append(last, buf[:n]...)
		if extra := len(last) - lake.ChecksumSize; extra > 0 {
			sum.Write(last[:extra])
			last = append(last[:0], last[extra:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if !bytes.Equal(last, []byte(lake.ChecksumPrefix+end.Checksum)) || sumOf(sum) != end.Checksum {
		return errWrongBytes
	}
	return nil
}

// download copies an object to a local file.
func (m *Mirror) download(ctx context.Context, key, path string) (err error) {
	from, err := m.store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
