package main

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
)

// exitNoReader is the exit code of a command whose reader of stdout has gone, as in `| head`: that of a program that SIGPIPE
// ends.
const exitNoReader = 141

// output is stdout. When its reader has gone, a command that only answers is cancelled.
type output struct {
	to     io.Writer
	cancel func()
	needed atomic.Bool // what the command prints is all that it is for
	gone   atomic.Bool // the reader has gone, and what was printed was needed

	failed atomic.Pointer[error] // why something that was needed could not be printed, such as a full disk; the help drops it
}

func newOutput(to io.Writer, cancel func()) *output {
	if outer, ok := to.(*output); ok { // that of a watch, whose commands have their own
		to = outer.to
	}
	o := &output{to: to, cancel: cancel}
	o.needed.Store(true)
	return o
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	needed := o.needed.Load()
	if !errors.Is(err, syscall.EPIPE) {
		if err != nil && needed {
			first := err
			o.failed.CompareAndSwap(nil, &first)
		}
		return n, err
	}
	if !needed {
		return len(p), nil
	}
	o.gone.Store(true)
	o.cancel()
	return n, err
}

// fault returns why not all of what was needed is printed; nil if all is.
func (o *output) fault() error {
	if failed := o.failed.Load(); failed != nil {
		return fmt.Errorf("printing the answer: %w", *failed)
	}
	return nil
}

// workOn lets a command go on to its end although the reader of stdout has gone: it is for its work on the lake, and those
// who are told how it ended have other ways.
func (a *app) workOn() {
	if o, ok := a.Stdout.(*output); ok {
		o.needed.Store(false)
	}
}
