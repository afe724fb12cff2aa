package hook

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Lasting is a grant for every session of one project. With hosts, it lets a call reach these
// hosts from its box. Without hosts, it lets the calls it covers run.
type Lasting struct {
	Ticket floodmark.TicketID
	Tool   floodmark.ToolRef
	Args   floodmark.Digest
	Hosts  []string
	// Here, Mark and Codes are those of the [floodmark.Shown] that was approved.
	Here  floodmark.Digest
	Mark  floodmark.Label
	Codes []floodmark.Code
}

// A BoxEnd describes how a command in a box ended.
type BoxEnd struct {
	// Ticket is the ticket of the command that started the box.
	Ticket string
	// State is the result; empty if unknown.
	State floodmark.BoxState
	// Failed says that the command failed, or may have failed silently because it could not reach a
	// host.
	Failed bool
	// Exit is the command's exit status, or 128 plus the number of the signal that ended it.
	Exit int
	// Hosts are the names that the command tried to reach, and Paths the files it wrote that were
	// not kept. The command can put any text into both.
	Hosts, Paths []string
}

// How many names are shown, and how many characters of each.
const (
	maxWanted  = 4
	maxWanting = 100
)

// Wanted returns the hosts that a failed command tried to reach, safe for display. A name that
// cannot be a host is left out.
func (b *BoxEnd) Wanted() []string {
	if !b.Failed {
		return nil
	}
	return few(slices.DeleteFunc(slices.Clone(b.Hosts), func(h string) bool {
		return h == "" || len(h) > maxWanting || strings.Trim(strings.ToLower(h), "abcdefghijklmnopqrstuvwxyz0123456789.-_:") != ""
	}))
}

// NotKept returns the paths that were not kept, safe for display.
func (b *BoxEnd) NotKept() (names []string) {
	for _, p := range b.Paths[:min(len(b.Paths), maxWanted)] {
		if p = floodmark.Inert(p, maxWanting); p != "" {
			names = append(names, p)
		}
	}
	return few(names)
}

func few(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxWanted)]
}

// Line tells the agent what to do after a failure.
func (b *BoxEnd) Line() string {
	switch {
	case !b.Failed:
		return ""
	case b.State == floodmark.BoxEnded && b.Exit == 0:
		return "something may be missing: the box has no network, and a host was wanted in vain. If it matters, make the same call again at once: then a person is asked."
	case len(b.Hosts) > 0:
		return "no network in the box: ask for the push, or whatever needs it, in a call of its own. If the same call is made again at once, a person is asked whether it may run outside the box."
	}
	return "it failed in a box, which has no network and only this project. If the same call is made again at once, a person is asked whether it may run outside the box."
}
