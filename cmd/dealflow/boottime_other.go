//go:build !linux

package main

import "time"

// sinceBoot returns the time since the start of the program. Whether that includes suspends depends on the system; where
// it does not, a suspend looks like a pause of a virtual machine: the machine's clock and the server's Dates tell.
func sinceBoot() time.Duration { return time.Since(started) }

var started = time.Now()
