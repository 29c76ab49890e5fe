package confine

import (
	"errors"
	"os/exec"
)

// ErrUnsupported means that the system cannot restrict a process to some files.
var ErrUnsupported = errors.New("this system cannot restrict a process to some files")

// Files are the files and folders that a process may use. Names that do not exist are left out.
type Files struct {
	Read  []string // to read, and to run; with all that is below them
	Write []string // folders in which it may also create, change and remove files
}

// Process is a started process.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
}

// Kill ends the process. It may be called concurrently, and after the end.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() } // an error means that it has ended

// Wait waits for the end of the process. It may be called more than once.
func (p *Process) Wait() error {
	<-p.ended
	return p.err
}

// Start starts a command that has not been started, in a session of its own. With files, its process may use these alone,
// and no network; nil restricts nothing. The process is killed if its parent ends.
func Start(cmd *exec.Cmd, files *Files) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(files, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}
