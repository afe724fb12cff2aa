package did_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/console/did"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/wire"
)

var (
	shipped = sync.OnceValues(catalog.Shipped)
	rules   = sync.OnceValues(func() (kernel.Rules, error) {
		p, problems := policy.Load()
		if problems.Failed() {
			return kernel.Rules{}, problems
		}
		c, err := shipped()
		return kernel.NewRules(p, catalog.New(p.Tools(), c)), err
	})
)

// groups says who answers for which agent.
var groups = config.Service{Answers: []config.Answer{{Agent: "openclaw", Groups: []string{"office"}}, {Agent: "pi", Groups: []string{"engineers"}}}}

// A room is a desk over a monitor in memory, with a clock of its own.
type room struct {
	*did.Desk
	t       testing.TB
	store   journal.Journal
	reads   map[floodmark.SessionID]int
	fails   floodmark.SessionID // the session that cannot be read
	monitor *monitor.Monitor
	dir     string // of the proofs, the originals and the gateway's file

	mu   sync.Mutex // guards now
	now  time.Time
	step time.Duration // how far each look at the clock moves it on
}

func newRoom(t testing.TB) *room {
	t.Helper()
	return newRoomOver(t, journal.NewMemory())
}

func newRoomOver(t testing.TB, store journal.Journal) *room {
	t.Helper()
	dir := t.TempDir()
	held, err := rules()
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, store: store, dir: dir, reads: map[floodmark.SessionID]int{}, now: time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC), step: time.Millisecond}
	var n atomic.Int64
	next := func() string { return fmt.Sprintf("c0de%04d", n.Add(1)) }
	r.monitor, err = monitor.New(monitor.Config{
		Journal: r.store, Rules: func() kernel.Rules { return held },
		Key: func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		Now: func() time.Time { return r.later(time.Millisecond) }, NewCode: next,
		NewTicket: func() floodmark.TicketID { return floodmark.TicketID("t-" + next()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.monitor.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Desk = did.New(did.Options{
		File: "policy.yaml", Journal: counted{r.store, r}, Shipped: shipped, Now: func() time.Time { return r.later(r.step) },
		Rules:  func(string) owner.Rules { return owner.Rules{Rules: config.Rules{Rules: held}} },
		Agents: &prove.Rewrites{Proofs: filepath.Join(dir, "proofs.json"), Records: filepath.Join(dir, "originals")}, Gateway: filepath.Join(dir, "gateway.yaml"),
		Groups: groups.AnswerGroups, AnswersFor: groups.AnswersFor,
	})
	return r
}

// A counted journal counts how often each session is read.
type counted struct {
	journal.Journal
	room *room
}

// Read implements [journal.Journal].
func (c counted) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	c.room.reads[s.ID]++
	if s.ID == c.room.fails {
		return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, journal.ErrBroken) }
	}
	return c.Journal.Read(ctx, s, after)
}

func (r *room) later(d time.Duration) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
	return r.now
}

func (r *room) tell(s floodmark.SessionID, ev hook.Event) {
	r.t.Helper()
	ev.Agent, ev.Session = cmp.Or(ev.Agent, "openclaw"), s
	if _, err := r.monitor.Handle(r.t.Context(), "", ev); err != nil {
		r.t.Fatal(err)
	}
}

// asked plays a session in which a page is read and a command is asked about.
func (r *room) asked(s floodmark.SessionID) {
	r.t.Helper()
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}
	r.tell(s, hook.Event{Point: hook.SessionStart, Project: "/home/anna/shop"})
	r.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	r.tell(s, hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: "All is well."}})
	r.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c2", Name: "exec", Args: []byte(`{"command":"make install"}`)}})
}

func (r *room) answer(s floodmark.SessionID, verb approval.Verb) {
	r.t.Helper()
	at := journal.Session{ID: s}
	v, err := r.monitor.View(r.t.Context(), at)
	if err != nil || len(v.State.Book.Tickets) != 1 {
		r.t.Fatalf("%v, %d questions", err, len(v.State.Book.Tickets))
	}
	r.later(time.Minute)
	cmd := approval.Command{Verb: verb, Ticket: v.State.Book.Tickets[0].ID, Tool: approval.All, By: "anna", Channel: httpapi.ByConsole}
	if _, err := r.monitor.Answer(r.t.Context(), at, cmd); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) did(days int32) *wire.DidResponse {
	r.t.Helper()
	got, err := r.Did(r.t.Context(), httpapi.Identity{}, &wire.DidRequest{Days: days})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}

// TestDid counts questions, their answers and their channels by day, and finds what they cost.
func TestDid(t *testing.T) {
	r := newRoom(t)
	r.asked("openclaw:old")
	r.later(20 * 24 * time.Hour)
	r.asked("openclaw:a")
	r.answer("openclaw:a", approval.Approve)
	r.later(24 * time.Hour)
	r.asked("openclaw:b")
	r.answer("openclaw:b", approval.Deny)
	r.asked("openclaw:c")
	if err := r.monitor.Note(t.Context(), journal.Session{ID: "openclaw:c"}, floodmark.IncidentSeen{Kind: "unmediated-call"}); err != nil {
		t.Fatal(err)
	}
	got := r.did(7)
	if got.GetAsked() != 3 || got.GetYes() != 1 || got.GetNo() != 1 || got.GetWaiting() != 1 || got.GetSessions() != 3 || got.GetUnread() != 0 {
		t.Errorf("%v", got)
	}
	if c := got.GetChannels(); len(c) != 1 || c[0].GetChannel() != "console" || c[0].GetYes() != 1 || c[0].GetNo() != 1 {
		t.Errorf("%v", c)
	}
	if d := got.GetDays(); len(d) != 7 || d[6].GetAsked() != 2 || d[5].GetAsked() != 1 || d[6].GetDay() != "2026-12-10" {
		t.Errorf("%v", d)
	}
	if a := got.GetAgents(); len(a) != 1 || a[0].GetAgent() != "openclaw" || a[0].GetSessions() != 3 || a[0].GetUnseen() != 1 {
		t.Errorf("%v", a)
	}
	src, tool, project := got.GetSources(), got.GetTools(), got.GetProjects()
	if len(src) != 1 || !strings.Contains(src[0].GetName(), "news.example") || src[0].GetQuestions() != 3 || len(tool) != 1 || tool[0].GetName() != "exec" ||
		len(project) != 1 || project[0].GetName() != "/home/anna/shop" || project[0].GetSessions() != 3 {
		t.Fatalf("%v, %v, %v", src, tool, project)
	}
	if one := src[0]; one.GetLine() == "" && one.GetWhy() == "" || one.GetSaves() > one.GetQuestions() {
		t.Errorf("%v", one)
	}
	if one := src[0]; one.GetKind() == "endorsement" && !strings.HasPrefix(one.GetLine(), "floodmark trust openclaw:") {
		t.Errorf("%v", one)
	}
	if all := r.did(60); all.GetAsked() != 4 || len(all.GetDays()) != 60 {
		t.Errorf("%d questions, %d days", all.GetAsked(), len(all.GetDays()))
	}
}

// TestDidNothing: an empty journal has empty days.
func TestDidNothing(t *testing.T) {
	if got := newRoom(t).did(0); got.GetAsked() != 0 || len(got.GetDays()) != 7 || got.GetStoppedEarly() != "" {
		t.Errorf("%v", got)
	}
}

// TestDidEndsInTime says that it did not read everything.
func TestDidEndsInTime(t *testing.T) {
	r := newRoom(t)
	for i := range 3 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	r.quiet("q1")
	r.step = 2 * time.Minute
	if got := r.did(7); got.GetSessions() != 1 || got.GetStoppedEarly() == "" {
		t.Errorf("%v", got)
	}
	got := r.did(7)
	if got.GetSessions() != 2 || got.GetStoppedEarly() == "" {
		t.Errorf("asked again, it got no further: %v", got)
	}
	if src := got.GetSources(); len(src) != 1 || src[0].GetKind() == "endorsement" || !strings.Contains(src[0].GetWhy(), "not all sessions could be read") {
		t.Errorf("a source is to be trusted that may have been caught in what was not read: %v", src)
	}
}

// quiet plays a session in which nothing is asked.
func (r *room) quiet(s floodmark.SessionID) {
	r.t.Helper()
	r.tell(s, hook.Event{Point: hook.SessionStart, Project: "/home/anna/shop"})
	r.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c1", Name: "read", Args: []byte(`{"path":"/home/anna/shop/a.go"}`)}})
}

// TestQuietSessionsAreReadOnce: their figures are remembered until something is added to them, or the
// report begins within them.
func TestQuietSessionsAreReadOnce(t *testing.T) {
	r := newRoom(t)
	r.quiet("q1")
	r.later(30 * time.Hour)
	r.tell("q1", hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c2", Name: "read", Args: []byte(`{"path":"/home/anna/shop/b.go"}`)}})
	r.quiet("q2")
	r.asked("a")
	plain := func(days int32) string {
		got := r.did(days)
		got.Until, got.Since = nil, nil
		return got.String()
	}
	first := plain(7)
	clear(r.reads)
	if again := plain(7); again != first || r.reads["q1"]+r.reads["q2"] != 0 || r.reads["a"] == 0 {
		t.Errorf("read %v, and says\n%s, want\n%s", r.reads, again, first)
	}
	if one := r.did(1); one.GetDecisions() != 4 || one.GetSessions() != 3 || r.reads["q1"] != 1 || r.reads["q2"] != 0 {
		t.Errorf("one day: %v, read %v", one, r.reads)
	}
	r.tell("q2", hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c2", Name: "read", Args: []byte(`{"path":"/home/anna/shop/b.go"}`)}})
	if got := r.did(7); got.GetDecisions() != 6 || r.reads["q2"] != 1 {
		t.Errorf("added to: %d decisions, read %v", got.GetDecisions(), r.reads)
	}
	if got, err := r.Did(t.Context(), httpapi.Identity{Tenant: "other"}, &wire.DidRequest{}); err != nil || got.GetSessions() != 0 {
		t.Errorf("another tenant: %v, %v", got, err)
	}
}

// TestNamesAreNoOptions: an agent chooses the name of its session, which is in a command to copy.
func TestNamesAreNoOptions(t *testing.T) {
	r := newRoom(t)
	for i := range 4 {
		r.asked(floodmark.SessionID(fmt.Sprint("--withdraw", i)))
	}
	src := r.did(7).GetSources()
	if len(src) != 1 || src[0].GetKind() != "endorsement" || strings.HasPrefix(src[0].GetLine(), "floodmark trust -") {
		t.Errorf("%v", src)
	}
}

// TestEachSessionIsJudgedAgainOnce: however many things cost its questions.
func TestEachSessionIsJudgedAgainOnce(t *testing.T) {
	r := newRoom(t)
	for i := range 4 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	got := r.did(7)
	if len(got.GetSources()) == 0 || len(got.GetTools()) == 0 || len(got.GetProjects()) == 0 {
		t.Fatalf("%v", got)
	}
	for s, n := range r.reads {
		if n > 2 {
			t.Errorf("%s was read %d times", s, n)
		}
	}
	r.fails = "s0"
	if src := r.did(7).GetSources(); len(src) != 1 || src[0].GetKind() == "endorsement" || !strings.Contains(src[0].GetWhy(), "not all sessions could be read") {
		t.Errorf("a session could not be read, and a line is offered: %v", src)
	}
}

// TestDidRefuses wrong spans and callers that have left.
func TestDidRefuses(t *testing.T) {
	r := newRoom(t)
	for _, days := range []int32{-1, 366} {
		if _, err := r.Did(t.Context(), httpapi.Identity{}, &wire.DidRequest{Days: days}); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%d days: %v", days, err)
		}
	}
	r.asked("s")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Did(ctx, httpapi.Identity{}, &wire.DidRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got, err := r.Did(t.Context(), httpapi.Identity{Tenant: "other"}, &wire.DidRequest{}); err != nil || got.GetAsked() != 0 {
		t.Errorf("another tenant: %v, %v", got, err)
	}
}

func BenchmarkDid(b *testing.B) {
	r := newRoom(b)
	for i := range 1000 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	for b.Loop() {
		r.did(7)
	}
}
