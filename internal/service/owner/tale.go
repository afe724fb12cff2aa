package owner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/report"
	"github.com/floodmark/floodmark/wire"
)

// A tale is a whole session, read from its journal.
type tale struct {
	session   journal.Session
	link      journal.Link
	state     *kernel.State
	erased    *journal.Tombstone
	opened    time.Time
	written   time.Time
	closed    bool
	came      []arrival
	lost      int // the number of sources whose time of arrival is unknown
	decisions []told
	incidents []*wire.Incident
	// stopped counts the decisions that did not allow a call, and questions those of them that
	// asked a person. boxed counts the commands that were allowed in a box, and boxFailed those
	// that failed there.
	stopped, questions, boxed, boxFailed int64
	calls                                int64 // decisions that are not about asking the model
	asked                                askedCalls
	// copy describes the laptop's copy, and problem says what is wrong with it. Both are empty for
	// a session of this monitor.
	copy    *wire.MachineCopy
	problem string
}

// An arrival says when some sources of a session arrived: all sources before the node before that
// no earlier arrival includes.
type arrival struct {
	before floodmark.NodeID
	seq    uint64
	turn   int
}

// arrived describes when a source arrived. It returns "" if that is unknown.
func (t *tale) arrived(n floodmark.NodeID) string {
	i, _ := slices.BinarySearchFunc(t.came, n+1, func(a arrival, n floodmark.NodeID) int { return cmp.Compare(a.before, n) })
	switch {
	case i == len(t.came), int(n) < t.lost:
		return ""
	case t.came[i].turn == 0:
		return fmt.Sprintf(", before turn 1, entry %d", t.came[i].seq)
	}
	return fmt.Sprintf(", since turn %d, entry %d", t.came[i].turn, t.came[i].seq)
}

// A told is a decision of a session, with its explanation if that was requested.
type told struct {
	seq  uint64
	at   time.Time
	fact floodmark.ActionDecided
	why  *report.Explanation
	box  *floodmark.ContentArrived // the result, if the call ran in a box
}

func (t told) id(s journal.Session) string { return string(s.ID) + "#" + strconv.FormatUint(t.seq, 10) }

// maxTold bounds the entries of a session that one request reads.
const maxTold = 1 << 20

// tell reads a session from its beginning and checks its chain on the way. Explanations take time,
// so they are only made for decisions for which explain returns true. Each entry is also passed to
// see. Both may be nil.
func (d *Desk) tell(ctx context.Context, s journal.Session, explain explains, see sees) (*tale, error) {
	start, err := d.Journal.Begin(ctx, s)
	if err != nil {
		return nil, err
	}
	t := &tale{session: s, state: kernel.NewState(), erased: start.Tombstone, asked: d.newAsked()}
	if t.erased != nil {
		t.link, t.state = t.erased.Link, kernel.Forgotten(t.erased.Mark)
	}
	n := 0
	for e, err := range d.Journal.Read(ctx, s, t.link.Seq) {
		if err != nil {
			return nil, err
		}
		if n++; n > maxTold {
			return nil, fmt.Errorf("%w: session %s has more than %d facts; export it instead", httpapi.ErrInvalid, s, maxTold)
		}
		if err := journal.Check(s, t.link, e); err != nil {
			return nil, err
		}
		if err := t.take(e, explain, see); err != nil {
			return nil, fmt.Errorf("session %s, entry %d: %w: %w", s, e.Seq, errStrange, err)
		}
	}
	if n == 0 && t.erased == nil {
		return nil, fmt.Errorf("%w: there is no session %q", httpapi.ErrNotFound, s.ID)
	}
	return t, nil
}

func (t *tale) take(e journal.Entry, explain explains, see sees) error {
	f, err := e.Fact()
	if err != nil {
		return err
	}
	if t.opened.IsZero() {
		t.opened = e.Time()
	}
	t.link, t.written, t.closed = e.Link(), e.Time(), false
	switch f := f.(type) {
	case floodmark.ActionDecided:
		one := told{seq: e.Seq, at: e.Time(), fact: f}
		if explain != nil && explain(e.Seq, f) {
			why := report.Retell(&t.state.Ledger, f)
			for i, n := range why.Blamed {
				why.Sources[len(why.Sources)-len(why.Blamed)+i] += t.arrived(n)
			}
			one.why = &why
		}
		t.decisions = append(t.decisions, one)
		t.count(f, e.Time())
	case floodmark.ContentArrived:
		t.boxEnded(f)
	case floodmark.IncidentSeen:
		t.incidents = append(t.incidents, &wire.Incident{
			Kind: f.Kind, Call: string(f.Call), Tool: wire.FromToolRef(f.Tool), Text: f.Text, At: timestamppb.New(e.Time()),
		})
	case floodmark.SessionClosed:
		t.closed = true
	case floodmark.TicketOpened:
		if t.asked.since != nil { // of a copy nothing is asked here
			t.asked.since[f.Ticket] = e.Time()
		}
		for _, shown := range f.Shown {
			t.ask(f.Ticket, f.Expires, f.CodeMAC, shown)
		}
	case floodmark.TicketExtended:
		if o, ok := t.state.Book.ByID(f.Ticket, t.asked.now); ok {
			t.ask(f.Ticket, o.Expires, f.CodeMAC, f.Shown)
		}
	default:
	}
	if see != nil {
		see(e, f)
	}
	had := t.state.Ledger.Len()
	if t.came == nil {
		t.lost = had // the sources that a session has after it was erased
	}
	if err := t.state.Apply(f); err != nil {
		return err
	}
	if n := t.state.Ledger.Len(); n > had {
		t.came = append(t.came, arrival{floodmark.NodeID(n), e.Seq, t.state.Turn})
	}
	return nil
}

// forgotten reports whether the session was erased and had no event since.
func (t *tale) forgotten() bool { return t.erased != nil && t.opened.IsZero() }

// summary returns the session in a few numbers. A session that was erased counts as closed, and has
// no time of opening.
func (t *tale) summary(now time.Time) *wire.Session {
	s := &wire.Session{
		Id: printedID(t.session), Problem: t.problem, Agent: t.state.Agent, Project: t.state.Project, Parent: string(t.state.Parent),
		Mark: wire.FromLabel(t.state.Mark()), Facts: t.link.Seq, Closed: t.closed || t.forgotten(),
		Decisions: t.calls, Stopped: t.stopped, Asked: t.questions, Boxed: t.boxed, BoxFailed: t.boxFailed,
		Pending: int64(t.state.Book.Waiting(now)), Incidents: t.wrong(),
	}
	if t.forgotten() {
		s.Written = timestamppb.New(time.Unix(0, t.erased.At))
		return s
	}
	s.Opened, s.Written = timestamppb.New(t.opened), timestamppb.New(t.written)
	return s
}

// wrong counts the incidents that are not what a person did by hand.
func (t *tale) wrong() (n int64) {
	for _, i := range t.incidents {
		if !meaning.OwnAct(i.GetKind()) {
			n++
		}
	}
	return n
}

// named finds the session an owner names, as [meant] describes.
func (d *Desk) named(ctx context.Context, tenant, name string) (journal.Session, error) {
	if name == "" {
		return journal.Session{}, fmt.Errorf("%w: name a session; «floodmark journal sessions» lists them", httpapi.ErrInvalid)
	}
	whole := journal.Session{Tenant: tenant, ID: floodmark.SessionID(name)}
	for _, err := range d.Journal.Read(ctx, whole, 0) {
		return whole, err
	}
	m := meant{word: name, what: "session"}
	for h, err := range d.Journal.Recent(ctx, tenant) {
		if err != nil {
			return journal.Session{}, err
		}
		m.hear(string(h.Session.ID))
	}
	found, err := m.one("«floodmark journal sessions» lists them")
	return journal.Session{Tenant: tenant, ID: floodmark.SessionID(found)}, err
}

// A meant finds which of many names a person means by a word. It is the name that equals the word,
// or the only name that begins with the word, or has it after its first colon. So codex:0199aabb
// can be written as codex:01 or 0199.
type meant struct {
	word, what string
	whole      bool
	found      []string
}

// hear adds one of the names. A name may be added more than once.
func (m *meant) hear(name string) {
	_, behind, _ := strings.Cut(name, ":")
	switch {
	case name == m.word:
		m.whole, m.found = true, []string{name}
	case m.whole || len(m.found) > 0 && slices.Contains(m.found, name):
	case strings.HasPrefix(name, m.word) || strings.HasPrefix(behind, m.word):
		m.found = append(m.found, name)
	}
}

// one returns the name, or an error that says why there is not exactly one. todo is the hint at the
// end of the error, on how to list the names.
func (m *meant) one(todo string) (string, error) {
	word := floodmark.Visible(floodmark.Shorten(m.word, maxWord))
	switch len(m.found) {
	case 0:
		return "", fmt.Errorf("%w: there is no %s %q; %s", httpapi.ErrNotFound, m.what, word, todo)
	case 1:
		return m.found[0], nil
	}
	return "", fmt.Errorf("%w: %d names of a %s begin with %q, such as %s and %s; write more of the name", httpapi.ErrInvalid,
		len(m.found), m.what, word, floodmark.Visible(m.found[0]), floodmark.Visible(m.found[1]))
}

// source returns the digest of a source that a person names by its number in a session. It returns
// any other word unchanged.
func (d *Desk) source(ctx context.Context, s journal.Session, word string) (string, error) {
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || len(word) >= approval.MinDigestDigits {
		return word, nil
	}
	v, err := d.Monitor.View(ctx, s)
	if err != nil {
		return "", err
	}
	for src := range v.State.Ledger.Sources() {
		if uint64(src.Node) == n {
			return src.Digest.String(), nil
		}
	}
	return "", fmt.Errorf("%w: session %s has no source %d; «floodmark journal show %s» lists them", httpapi.ErrNotFound, s.ID, n, s.ID)
}
