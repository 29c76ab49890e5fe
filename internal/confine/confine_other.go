//go:build !linux

package confine

import (
	"fmt"
	"runtime"
)

// Supported returns nil if Start can restrict a process to some files, and ErrUnsupported otherwise.
func Supported() error {
	return fmt.Errorf("%w: it has no Landlock, which only Linux has, and this is %s", ErrUnsupported, runtime.GOOS)
}

// run starts the process and waits for it.
func (p *Process) run(files *Files, started chan<- error) {
	defer close(p.ended)
	var err error
	if files != nil {
		err = Supported()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}
