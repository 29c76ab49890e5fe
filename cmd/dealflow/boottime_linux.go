package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot returns the time since this machine was started, its suspends included. Go's own monotonic clock leaves them
// out: a laptop that slept for five hours would write 03:00 for what it saw at 08:00.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return time.Since(started) // a system without that clock
	}
	return time.Duration(t.Nano())
}

var started = time.Now()
