package hook

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Lasting is a grant for every session of one project: it lets a call reach hosts from its box
// or, without hosts, lets the calls it covers run.
type Lasting struct {
	Ticket floodmark.TicketID
	Tool   floodmark.ToolRef
	Args   floodmark.Digest
	Hosts  []string
	// Here is as in [floodmark.Shown], and Mark and Codes are what was shown with it.
	Here  floodmark.Digest
	Mark  floodmark.Label
	Codes []floodmark.Code
}

// A BoxEnd is how a command in a box ended.
type BoxEnd struct {
	// Ticket is the ticket of the command that started the box.
	Ticket string
	// State is the result; empty if unknown.
	State floodmark.BoxState
	// Failed says that the command failed, or may have for want of a host without reporting it.
	// Exit is its status: 128 plus a signal's number, if one ended it. Hosts are names it tried to
	// reach, Paths what it wrote and was not kept: the command can put anything there.
	Failed       bool
	Exit         int
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
