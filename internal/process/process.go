package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Identity identifies a process of one machine since its last start. It is part of a lease, so that commands on the same
// machine find out at once that the lease's owner has died.
type Identity struct {
	BootID       string `json:"boot_id"`       // of the kernel: it changes with each start of the machine
	PIDNamespace string `json:"pid_namespace"` // in which PID counts: containers have their own
	PID          int    `json:"pid"`
	Started      string `json:"started"` // in clock ticks since the machine's start: a PID is used again
}

// Current identifies this process; nil if the system does not say enough. Only Linux does.
func Current() *Identity {
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, err2 := os.Readlink("/proc/self/ns/pid")
	started, _, err3 := stat("self")
	if errors.Join(err1, err2, err3) != nil {
		return nil
	}
	return &Identity{BootID: strings.TrimSpace(string(boot)), PIDNamespace: namespace, PID: os.Getpid(), Started: started}
}

// IsHere says whether the process ran or runs where this one does, so that this one can see whether it lives.
func (p *Identity) IsHere() bool {
	self := Current()
	return p != nil && self != nil && p.BootID == self.BootID && p.PIDNamespace == self.PIDNamespace
}

// HasEnded says whether it is certain that the process has ended.
func (p *Identity) HasEnded() bool {
	if !p.IsHere() || p.PID <= 0 {
		return false
	}
	// Other users' processes may be hidden in /proc; a signal tells more.
	if errors.Is(syscall.Kill(p.PID, 0), syscall.ESRCH) {
		return true
	}
	started, state, err := stat(strconv.Itoa(p.PID))
	return err == nil && (started != p.Started || state == "Z" || state == "X") // a zombie has ended
}

// Lives says whether it is certain that the process has not ended.
func (p *Identity) Lives() bool { return p.IsHere() && !p.HasEnded() }

// stat reads when a process was started, and its state. The format is that of proc(5).
func stat(pid string) (started, state string, err error) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", "", err
	}
	// The program's name is in parentheses and may contain anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const stateField, startField = 0, 19 // the third and the 22nd of all
	if len(fields) <= startField {
		return "", "", errors.New("/proc/" + pid + "/stat has too few fields")
	}
	return fields[startField], fields[stateField], nil
}
