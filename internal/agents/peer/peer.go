// Package peer finds out who is at the other end of a local socket: the process, its user, its
// terminal, and every process it descends from. It trusts only what the operating system says. What
// it cannot find out is held against the peer.
package peer

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Process is one running program. Its number alone does not identify it, because numbers are used
// again; a number together with a start time does.
type Process struct {
	PID   int
	Start uint64 // in the system's own ticks since it was started
}

// An Info is what the system says of a process.
type Info struct {
	Process
	Parent  int
	UID     int    // -1 if it was not asked for
	Name    string // of the program, as the system shortens it
	Command []string
	// Terminal says that it has a controlling terminal.
	Terminal bool
}

// A Peer is a process that opened a connection to us.
type Peer struct {
	Info
	// Ancestors are its parents, the nearest first, up to the first process of
	// the machine.
	Ancestors []Info
}

// Line returns the peer and its ancestors, for people.
func (p Peer) Line() string {
	names := []string{fmt.Sprintf("%s (%d)", p.Name, p.PID)}
	for _, a := range p.Ancestors {
		names = append(names, fmt.Sprintf("%s (%d)", a.Name, a.PID))
	}
	return strings.Join(names, " < ")
}

// maxAncestors bounds how many ancestors are read. Real trees are a dozen deep; a tree deeper than
// this was built on purpose.
const maxAncestors = 256

// ErrUnknown says that the system could not tell who the peer is.
var ErrUnknown = errors.New("peer: not known who is there")

// A Table looks processes up. The system's own is [System]; tests have others.
type Table interface {
	// Look returns what is known of a running process.
	Look(pid int) (Info, error)
}

// A tracer is a table that itself makes sure that a chain did not change while it was read.
type tracer interface {
	trace(pid int) (Peer, error)
}

// Trace returns the peer with number pid and its ancestors. It fails if the
// chain changes while it is read, because then it proves nothing.
func Trace(t Table, pid int) (Peer, error) {
	for range 3 {
		p, err := once(t, pid)
		if !errors.Is(err, errChanged) {
			return p, err
		}
		time.Sleep(time.Millisecond) // a parent just ended; its child has another one now
	}
	return Peer{}, fmt.Errorf("%w: the parents of process %d keep changing", ErrUnknown, pid)
}

// errChanged says that a chain, a process with its ancestors, changed while it was read.
var errChanged = errors.New("its parents changed")

// once reads a chain and makes sure that it did not change meanwhile.
func once(t Table, pid int) (Peer, error) {
	if t, ok := t.(tracer); ok {
		return t.trace(pid)
	}
	first, err := trace(t, pid)
	if err != nil {
		return Peer{}, err
	}
	again, err := trace(t, pid)
	if err == nil && !same(first, again) {
		err = errChanged
	}
	if err != nil {
		return Peer{}, err
	}
	return again, nil
}

func trace(t Table, pid int) (Peer, error) {
	self, err := t.Look(pid)
	if err != nil {
		return Peer{}, err
	}
	p := Peer{Info: self}
	for at := self; at.Parent > 0; {
		if len(p.Ancestors) >= maxAncestors {
			return Peer{}, tooDeep(pid)
		}
		up, err := t.Look(at.Parent)
		if err != nil {
			return Peer{}, err
		}
		if up.Start > at.Start {
			return Peer{}, tooYoung(up.PID)
		}
		p.Ancestors = append(p.Ancestors, up)
		at = up
	}
	return p, nil
}

func tooDeep(pid int) error {
	return fmt.Errorf("%w: process %d has more than %d ancestors", ErrUnknown, pid, maxAncestors)
}

func tooYoung(pid int) error {
	return fmt.Errorf("%w: process %d is younger than its child", ErrUnknown, pid)
}

func same(a, b Peer) bool {
	if a.Process != b.Process || len(a.Ancestors) != len(b.Ancestors) {
		return false
	}
	for i := range a.Ancestors {
		if a.Ancestors[i].Process != b.Ancestors[i].Process {
			return false
		}
	}
	return true
}
