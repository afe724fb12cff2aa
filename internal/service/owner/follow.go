package owner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A trail records what became of the questions of a session: which decision led to a question, who
// answered it, and which calls an approval allowed. A person needs it after a wrong approval.
type trail struct {
	session journal.Session
	// of maps a decision to the question that it led to, or to the question whose approval allowed
	// it.
	of    map[uint64]floodmark.TicketID
	lines map[floodmark.TicketID][]string
	ran   map[floodmark.CallID]floodmark.TicketID // the approval by which each call ran last
	last  uint64                                  // the newest decision
	extra map[floodmark.TicketID]int
}

// maxFollowed bounds the calls listed for one approval.
const maxFollowed = 50

func newTrail(s journal.Session) *trail {
	return &trail{
		session: s, of: map[uint64]floodmark.TicketID{}, lines: map[floodmark.TicketID][]string{},
		ran: map[floodmark.CallID]floodmark.TicketID{}, extra: map[floodmark.TicketID]int{},
	}
}

// see adds an entry of the session.
func (t *trail) see(e journal.Entry, f floodmark.Fact) {
	switch f := f.(type) {
	case floodmark.ActionDecided:
		t.last = e.Seq
		t.decided(e, f)
	case floodmark.TicketOpened:
		if len(f.Shown) == 0 || f.Shown[0].Vouch.IsZero() {
			t.of[t.last] = f.Ticket
		}
	case floodmark.TicketExtended:
		if _, known := t.of[t.last]; !known {
			t.of[t.last] = f.Ticket
		}
	case floodmark.TicketAnswered:
		if f.Verdict == floodmark.Allow {
			t.add(f.Ticket, "approved"+by(f.By, f.Channel)+" at "+e.Time().UTC().Format(time.DateTime))
		} else if len(t.lines[f.Ticket]) > 0 && f.Verdict == floodmark.Restrict {
			t.add(f.Ticket, "denied afterwards"+by(f.By, f.Channel)+" at "+e.Time().UTC().Format(time.DateTime))
		}
	case floodmark.GrantEnded:
		t.add(f.Ticket, "ended at "+e.Time().UTC().Format(time.DateTime)+": "+f.Why)
	case floodmark.ArtifactWritten:
		if id := t.ran[f.Call]; id != "" && f.Artifact.Kind != floodmark.TreeArtifact {
			t.add(id, "it wrote "+f.Artifact.String())
		} else if id != "" {
			t.add(id, "it may have changed files below "+f.Artifact.Name)
		}
	default:
	}
}

// decided records a call if an approval allowed it.
func (t *trail) decided(e journal.Entry, f floodmark.ActionDecided) {
	if f.Action.Kind != floodmark.CallTool {
		return
	}
	delete(t.ran, f.Action.Call)
	at := slices.IndexFunc(f.Decision.Reasons, func(r floodmark.Reason) bool { return r.Code == floodmark.Granted })
	if f.Decision.Verdict != floodmark.Allow || at < 0 {
		return
	}
	id := floodmark.TicketID(f.Decision.Reasons[at].Rule)
	t.of[e.Seq], t.ran[f.Action.Call] = id, id
	if name, ok := strings.CutPrefix(string(id), standingName); ok && len(t.lines[id]) == 0 {
		t.add(id, "allowed in advance by your policy: «"+name+"» under standing")
	}
	text := string(t.session.ID) + "#" + strconv.FormatUint(e.Seq, 10) + ": " + f.Action.Tool.String() + " was let through"
	if to := goneTo(f); to != "" {
		text += ", " + to
	}
	t.add(id, text)
}

// goneTo describes where a call went, by its arguments.
func goneTo(f floodmark.ActionDecided) string {
	var list []string
	for i, a := range f.Action.Arguments {
		if a.Shown == "" || a.Role == floodmark.Content || f.Basis != nil && len(f.Basis.Destinations) > 0 && !slices.Contains(f.Basis.Destinations, i) {
			continue
		}
		list = append(list, a.Path+" "+strconv.Quote(a.Shown))
	}
	out := slices.ContainsFunc(f.Action.Effects, func(x floodmark.Effect) bool { return x == floodmark.Send || x == floodmark.Fetch })
	if len(list) == 0 {
		return ""
	}
	if out {
		return "and went out: " + strings.Join(list, ", ")
	}
	return "with " + strings.Join(list, ", ")
}

func by(who, channel string) string {
	text := ""
	if who != "" {
		text = " by " + who
	}
	if channel != "" {
		text += " (" + channel + ")"
	}
	return text
}

func (t *trail) add(id floodmark.TicketID, line string) {
	if len(t.lines[id]) >= maxFollowed {
		t.extra[id]++
		return
	}
	t.lines[id] = append(t.lines[id], line)
}

// followed returns what followed from the approval that a decision led to, or that allowed it.
func (t *trail) followed(seq uint64) []string {
	id, ok := t.of[seq]
	lines := t.lines[id]
	if !ok || len(lines) == 0 {
		return nil
	}
	if t.extra[id] > 0 {
		lines = append(slices.Clip(lines), fmt.Sprintf("and %d more", t.extra[id]))
	}
	if len(lines) == 1 {
		lines = append(slices.Clip(lines), "nothing ran by it so far")
	}
	return lines
}
