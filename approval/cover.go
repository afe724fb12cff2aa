package approval

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark"
)

// A Wanted is a call that needs approval, with all a grant is bound to.
type Wanted struct {
	Tool       floodmark.ToolRef
	ArgsDigest floodmark.Digest
	Pattern    string
	Others     floodmark.Digest
	Mark       floodmark.Label
	Codes      []floodmark.Code
	At         time.Time
	Turn       int
	// Boxed says that the call would run in a box. Exact says that exactly this call must have been
	// shown, with the same Others.
	Boxed, Exact bool
	// Observing says that the owner only observes. Only then are draft grants valid.
	Observing bool
	// Hosts are the hosts that the call would reach from its box.
	Hosts []string
	// Loads is the trust of what the call loads.
	Loads floodmark.Trust
	// NewBelow reports whether an insufficiently trusted source arrived since the session had the
	// given number of nodes. With drawn, it ignores other people's words unless the call's
	// arguments contain them. With exact, it ignores content that was made only from older sources.
	NewBelow func(since floodmark.NodeID, drawn, exact bool) bool
}

// Covers returns the grant that allows w, if there is one.
func (b *Book) Covers(w Wanted) (Grant, bool) {
	for _, g := range b.Grants {
		if g.covers(w) {
			return g, true
		}
	}
	return Grant{}, false
}

// covers reports whether g allows w. A grant covers only what was shown.
func (g Grant) covers(w Wanted) bool {
	switch {
	case g.Shown.Tool != w.Tool, g.Draft && !w.Observing:
		return false
	case g.Shown.Boxed && !w.Boxed: // approving a boxed run does not approve an unboxed one
		return false
	case !slices.Equal(g.Shown.Hosts, w.Hosts):
		return false
	case g.Until.IsZero() && !g.once() && g.Turn != w.Turn:
		return false
	case !g.Until.IsZero() && !w.At.Before(g.Until):
		return false
	case g.sunk(w.Mark) || g.Spoke && w.Loads < g.Shown.Mark.Trust:
		return false
	case slices.ContainsFunc(w.Codes, func(c floodmark.Code) bool { return !slices.Contains(g.Shown.Codes, c) && !g.excuses(c) }):
		return false
	case w.NewBelow == nil || w.NewBelow(g.Shown.Node, g.Spoke, g.exact()):
		return false
	}
	switch g.Scope {
	case floodmark.GrantOnce, floodmark.GrantOutside, floodmark.GrantTurn, floodmark.GrantMinutes:
		return g.Shown.ArgsDigest == w.ArgsDigest && (w.Others.IsZero() && !w.Exact || g.Shown.Others == w.Others)
	case floodmark.GrantPattern:
		return g.Shown.Pattern != "" && g.Shown.Pattern == w.Pattern && g.Shown.Others == w.Others
	case floodmark.GrantTool:
		return !w.Exact
	case floodmark.GrantHosts, floodmark.GrantHere: // [Here.By] and [Book.Reaches] apply these
	}
	return false
}

// sunk reports whether the mark is now lower than the mark that was shown. A trust of Local or more
// is never too low, because otherwise every approved call would end its own approval by its output.
// After words of others were read (Spoke), only secrecy is compared.
func (g Grant) sunk(now floodmark.Label) bool {
	shown := g.Shown.Mark
	return !g.Spoke && now.Trust < min(shown.Trust, floodmark.Local) || now.Secrecy < shown.Secrecy
}

// excuses reports whether a reason that was not shown follows only from what others said or from
// the call's own results.
func (g Grant) excuses(c floodmark.Code) bool {
	return g.Spoke && c == floodmark.TaintEscalation || g.Own && (c == floodmark.FlowPrivate || c == floodmark.FlowFetch)
}

// Denied reports whether a person already refused exactly this call. In a box it is not refused if
// only running it outside was.
func (b *Book) Denied(t floodmark.ToolRef, args floodmark.Digest, boxed bool) bool {
	return slices.ContainsFunc(b.Denials, func(d Denial) bool {
		return d.Tool == t && d.ArgsDigest == args && !(boxed && d.Outside)
	})
}

// Asked returns the open question that already shows exactly this call.
func (b *Book) Asked(t floodmark.ToolRef, args floodmark.Digest, at time.Time) (Open, bool) {
	for _, o := range b.Tickets {
		if o.Approved || !at.Before(o.Expires) {
			continue
		}
		for _, s := range o.Shown {
			if s.Tool == t && s.ArgsDigest == args {
				return o, true
			}
		}
	}
	return Open{}, false
}

// Vouch returns the digest of the content that the question is about; zero if it is about calls.
func (o Open) Vouch() floodmark.Digest {
	if len(o.Shown) == 0 {
		return floodmark.Digest{}
	}
	return o.Shown[0].Vouch
}

// Tools returns the tools of the question's calls. A question about content has none.
func (o Open) Tools() []floodmark.ToolRef {
	if !o.Vouch().IsZero() {
		return nil
	}
	tools := make([]floodmark.ToolRef, len(o.Shown))
	for i, shown := range o.Shown {
		tools[i] = shown.Tool
	}
	return tools
}

// about reports whether a tool is among [Open.Tools].
func (o *Open) about(t floodmark.ToolRef) bool {
	for i := range o.Shown {
		if o.Shown[i].Tool == t {
			return o.Vouch().IsZero()
		}
	}
	return false
}

// Two reports whether two people must approve the question.
func (o Open) Two() bool {
	return slices.ContainsFunc(o.Shown, func(s floodmark.Shown) bool { return s.Two })
}

// ByCode returns the open question with this code. It compares the codes of all questions, so that
// its duration does not tell which codes exist.
func (b *Book) ByCode(key []byte, s floodmark.SessionID, code string, at time.Time) (Open, bool) {
	var found Open
	ok := false
	for _, o := range b.Tickets {
		if SameDigest(CodeMAC(key, s, o.ID, code), o.CodeMAC) && at.Before(o.Expires) {
			found, ok = o, true
		}
	}
	return found, ok
}

// Ended returns how the question with a ticket or code ended, to reply to a late answer. A question
// that expired unanswered has the verdict Confirm.
func (b *Book) Ended(key []byte, s floodmark.SessionID, t floodmark.TicketID, code string, at time.Time) (Closed, bool) {
	var found Closed
	ok := false
	is := func(id floodmark.TicketID, mac floodmark.Digest) bool {
		if code == "" {
			return t != "" && id == t
		}
		return SameDigest(CodeMAC(key, s, id, code), mac)
	}
	for _, c := range b.Closed {
		if is(c.ID, c.CodeMAC) {
			found, ok = c, true
		}
	}
	for _, o := range b.Tickets {
		if !at.Before(o.Expires) && is(o.ID, o.CodeMAC) {
			found, ok = Closed{ID: o.ID, Verdict: floodmark.Confirm, By: "it has expired"}, true
			if o.Approved {
				found.Verdict, found.By, found.Channel = floodmark.Allow, o.By, o.Channel
			}
		}
	}
	return found, ok
}

// ByID returns an open question by its ticket, for authenticated channels.
func (b *Book) ByID(t floodmark.TicketID, at time.Time) (Open, bool) {
	if i := b.find(t); i >= 0 && at.Before(b.Tickets[i].Expires) {
		return b.Tickets[i], true
	}
	return Open{}, false
}

// Waiting counts the questions that are not answered yet.
func (b *Book) Waiting(at time.Time) int {
	n := 0
	for _, o := range b.Tickets {
		if !o.Approved && at.Before(o.Expires) {
			n++
		}
	}
	return n
}
