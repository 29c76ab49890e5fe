//go:build !unix

package confine

import "fmt"

// Limit limits what this process does from now on: the size of each file that it writes, and its memory, both in bytes.
func Limit(uint64, uint64) error {
	return fmt.Errorf("%w: it has no limit of the size of files (RLIMIT_FSIZE)", ErrUnsupported)
}
