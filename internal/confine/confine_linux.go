package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported returns nil if Start can restrict a process to some files, and ErrUnsupported otherwise.
func Supported() error {
	_, err := version()
	return err
}

// version returns the version of Landlock that the kernel has.
func version() (int, error) {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS:
		return 0, fmt.Errorf("%w: the kernel has no Landlock (Linux 5.13 and later have it)", ErrUnsupported)
	case errno == unix.EOPNOTSUPP:
		return 0, fmt.Errorf("%w: Landlock is off; add landlock to the kernel's parameter lsm=", ErrUnsupported)
	case errno != 0:
		return 0, fmt.Errorf("%w: Landlock: %w", ErrUnsupported, errno)
	case n < truncates:
		return 0, fmt.Errorf("%w: the kernel has version %d of Landlock, want %d (Linux 6.2)", ErrUnsupported, n, truncates)
	}
	return int(n), nil
}

// Versions of Landlock, by what they brought.
const (
	truncates = 3 // before it, a process could empty files that it may not write
	networks  = 4
	devices   = 5
	scopes    = 6
)

const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	allRights = writeRights | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE // those that a file can have, of readRights
)

// run starts the process and waits for it. Landlock restricts a thread and what it starts; cgo leaves no way to restrict all
// threads. So this goroutine keeps a thread of its own, which ends with it. The kernel would also kill the process at the
// end of the thread that started it, so the goroutine waits for the process.
func (p *Process) run(files *Files, started chan<- error) {
	defer close(p.ended)
	runtime.LockOSThread()
	if files == nil {
		defer runtime.UnlockOSThread() // otherwise the thread ends with the goroutine
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	err := restrict(files)
	if err == nil {
		err = p.cmd.Start()
	}
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

// restrict restricts the calling thread for ever.
func restrict(files *Files) error {
	if files == nil {
		return nil
	}
	abi, err := version()
	if err != nil {
		return err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: allRights}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if abi >= devices {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= networks {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if abi >= scopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: create rules: %w", errno)
	}
	defer unix.Close(int(ruleset)) //nolint:errcheck // it has only rules
	for _, path := range files.Read {
		err = errors.Join(err, allow(int(ruleset), path, readRights))
	}
	for _, path := range files.Write {
		err = errors.Join(err, allow(int(ruleset), path, writeRights))
	}
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("landlock: no new privileges: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: restrict: %w", errno)
	}
	return nil
}

// allow adds a rule for a file, or a folder with all that is below it.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	if is.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %s: %w", path, errno)
	}
	return nil
}
