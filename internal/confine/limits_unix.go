//go:build unix

package confine

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Limit limits what this process does from now on: the size of each file that it writes, and its memory, both in bytes. Only a
// privileged process can raise its limits again. A larger write fails with "file too large". The process leaves no core file.
func Limit(fileSize, memory uint64) error {
	signal.Ignore(syscall.SIGXFSZ) // by default it ends the process
	set := func(name string, resource int, most uint64) error {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit the process (%s): %w", name, err)
		}
		return nil
	}
	return errors.Join(
		set("RLIMIT_FSIZE", unix.RLIMIT_FSIZE, fileSize),
		set("RLIMIT_DATA", unix.RLIMIT_DATA, memory),
		set("RLIMIT_CORE", unix.RLIMIT_CORE, 0),
	)
}
