package approval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/deeds"
)

// How much of a push a card shows. A longer one is shown only in a terminal.
const (
	maxPushLines = 40
	maxPushBytes = 1800
)

// pushed returns the lines of a card about a push, and whether they show all of it.
func (q Question) pushed() (lines []Phrase, whole bool) {
	p := q.Push
	switch {
	case p == nil:
		return nil, true
	case !p.Reviewed():
		if p.Unseen == "" {
			return nil, true
		}
		return []Phrase{Phrase{}.say("(!) What it sends is not shown: " + p.Unseen + ". After a yes the agent itself pushes whatever is there then.")}, true
	}
	for _, l := range p.Head {
		lines = append(lines, quoting(l))
	}
	lines = append(lines, Phrase{}.say("After a yes the monitor pushes exactly this as soon as the agent asks again, and the agent pushes nothing."))
	if len(p.Body) > maxPushLines || len(strings.Join(p.Body, "\n")) > maxPushBytes {
		return append(lines, Phrase{}.say(fmt.Sprintf("The diff has %d lines. Look at it with «floodmark approve».", len(p.Body)))), false
	}
	for _, l := range p.Body {
		lines = append(lines, Phrase{}.say(l))
	}
	return lines, true
}

// quoting quotes the names in a line of a review, which it has between « and ».
func quoting(line string) (p Phrase) {
	for line != "" {
		before, rest, open := strings.Cut(line, "«")
		name, after, closed := strings.Cut(rest, "»")
		if !open || !closed {
			break
		}
		if before != "" {
			p = p.say(before)
		}
		p, line = p.quote(name, maxWhole), after
	}
	if line != "" {
		p = p.say(line)
	}
	return p
}

// sends says what an inspected push sends, and where to.
func (q Question) sends() Phrase {
	sent := q.Push.Sent
	p := Phrase{}.say("push " + sent.Sums + map[bool]string{true: " to the new branch ", false: " to branch "}[sent.Fresh])
	p = p.quote(sent.Branch, maxShownName).say(" of ").quote(site(q.Remote.Address), maxShownValue).say(", " + whose(q.Remote))
	if n := len(strings.Join(sent.Files, "")); n > 0 && n <= maxShownName {
		p = p.say(", in ").names(sent.Files)
	} else if n > 0 {
		p = p.say(", in ").names(sent.Files[:1])
	}
	if len(sent.Hosts) > 0 {
		p = p.say(", and first to name ").names(sent.Hosts)
	}
	return p
}

// names adds foreign names: “a”, “b”.
func (p Phrase) names(list []string) Phrase {
	for i, n := range list {
		if i > 0 {
			p = p.say(", ")
		}
		p = p.quote(n, maxShownHead)
	}
	return p
}

// goesTo says where a push goes, as far as that is known, and that its content was not inspected.
// If several pushes of a line go to different places, it does not name one.
func (q Question) goesTo(list []deeds.Deed) (p Phrase) {
	at := slices.IndexFunc(list, func(d deeds.Deed) bool { return d.Push })
	if at < 0 {
		return nil
	}
	d, known := list[at], q.Remote != hook.Remote{}
	same := func(o deeds.Deed) bool { return !o.Push || o.To == d.To && o.Settled == d.Settled }
	switch away := strings.ContainsAny(d.To, ":/"); {
	case slices.ContainsFunc(list, func(o deeds.Deed) bool { return !same(o) }):
	case away && known && site(d.To) != site(q.Remote.Address):
		p = p.say(", NOT the usual remote")
	case away && known:
		p = p.say(", " + whose(q.Remote))
	case !d.Settled || !known || away:
	case d.To == "" || d.To == "origin":
		p = p.say(" (origin is ")
		if q.Remote.Address == "" {
			p = p.say("not one plain address")
		} else {
			p = p.quote(site(q.Remote.Address), maxShownValue).say(", " + whose(q.Remote))
		}
		p = p.say(")")
	default:
		p = p.say(", NOT the usual remote")
	}
	if slices.ContainsFunc(list, func(d deeds.Deed) bool { return d.Push && !strings.HasPrefix(d.Verb, "delete") }) {
		p = p.say("; Floodmark has not looked at what it sends")
	}
	return p
}

// whose says who owns a remote.
func whose(r hook.Remote) string {
	switch {
	case r.Changed:
		return "git's settings changed in this session"
	case r.Team:
		return "your team's"
	case r.Own:
		return "your own"
	}
	return "its usual remote"
}

// site shortens an address to host and path. An address in an unusual form is returned as it is.
func site(address string) string {
	rest, web := strings.CutPrefix(address, "https://")
	if !web {
		if rest, web = strings.CutPrefix(address, "ssh://git@"); !web {
			rest, web = strings.CutPrefix(address, "git@")
			host, path, colon := strings.Cut(rest, ":")
			if !web || !colon || strings.Contains(host, "/") {
				return address
			}
			rest = host + "/" + strings.TrimPrefix(path, "/")
		}
	}
	if strings.ContainsAny(rest, "@:?#%") {
		return address
	}
	return strings.TrimSuffix(rest, ".git")
}
