package owner

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

func TestSessionsAreListedForTheirOwner(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	r.tell("s2", hook.Event{Point: hook.SessionStart})
	r.tell("s2", hook.Event{Point: hook.SessionEnd})
	list := func(who httpapi.Identity, q *wire.SessionsRequest) (names string, more bool) {
		t.Helper()
		a, err := r.Sessions(t.Context(), who, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range a.GetSessions() {
			names += s.GetId() + " "
		}
		return names, a.GetMore()
	}
	for name, c := range map[string]struct {
		who  httpapi.Identity
		q    *wire.SessionsRequest
		want string
		more bool
	}{
		"all, the last first": {me(), &wire.SessionsRequest{}, "s2 s1 ", false},
		"one":                 {me(), &wire.SessionsRequest{Limit: 1}, "s2 ", true},
		"open":                {me(), &wire.SessionsRequest{Open: true}, "s1 ", false},
		"of another agent":    {me(), &wire.SessionsRequest{Agent: "pi"}, "", false},
		"of this agent":       {me(), &wire.SessionsRequest{Agent: "openclaw"}, "s2 s1 ", false},
		"a stranger's":        {stranger(), &wire.SessionsRequest{}, "", false},
	} {
		if got, more := list(c.who, c.q); got != c.want || more != c.more {
			t.Errorf("%s: %q, more %v", name, got, more)
		}
	}
	for _, limit := range []int32{-1, maxSessions + 1} {
		if _, err := r.Sessions(t.Context(), me(), &wire.SessionsRequest{Limit: limit}); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if _, err := r.Sessions(t.Context(), me(), &wire.SessionsRequest{Limit: maxSessions}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

func TestASessionIsFoundByAPartOfItsName(t *testing.T) {
	r := newRoom(t)
	for _, s := range []floodmark.SessionID{"codex:0199a", "codex:0199b", "pi:77"} {
		r.tell(s, hook.Event{Point: hook.SessionStart})
	}
	for name, want := range map[string]error{
		"codex:0199a": nil, "0199a": nil, "pi": nil, "77": nil,
		"codex:0199": httpapi.ErrInvalid, "": httpapi.ErrInvalid, "nobody": httpapi.ErrNotFound, "199a": httpapi.ErrNotFound,
	} {
		if _, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: name}); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
	if _, err := r.Show(t.Context(), stranger(), &wire.ShowRequest{Session: "pi:77"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

func TestShowTellsAllOfASession(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	got, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: "s1", Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	s := got.GetSession()
	if s.GetMark().GetTrust() != "untrusted" || s.GetStopped() != 1 || s.GetDecisions() != 2 || s.GetPending() != 1 || s.GetClosed() || s.GetOpened() == nil {
		t.Errorf("%v", s)
	}
	if uint64(len(got.GetFacts())) != s.GetFacts() || len(got.GetDecisions()) != 2 || len(got.GetPending()) != 1 {
		t.Errorf("%d facts, %d decisions, %d questions", len(got.GetFacts()), len(got.GetDecisions()), len(got.GetPending()))
	}
	if short, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: "s1"}); err != nil || len(short.GetFacts()) != 0 {
		t.Errorf("facts nobody asked for: %v, %v", short.GetFacts(), err)
	}
}

func TestWhySaysWhatDecided(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	all, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: "s1"})
	if err != nil || len(all.GetExplanations()) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	refused := all.GetExplanations()[0]
	if refused.GetVerdict() != "confirm" || len(refused.GetReasons()) == 0 || len(refused.GetRemedies()) == 0 {
		t.Errorf("%v", refused)
	}
	if got := strings.Join(refused.GetSources(), "\n"); !strings.Contains(got, "web_fetch news.example (untrusted)") || !strings.HasSuffix(got, ", since turn 1, entry 5") {
		t.Errorf("when did it come in? %q", got)
	}
	one, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: refused.GetDecision()})
	if err != nil || len(one.GetExplanations()) != 1 || one.GetExplanations()[0].GetLine() != refused.GetLine() {
		t.Errorf("%v, %v", one, err)
	}
	for of, want := range map[string]error{"s1#1": httpapi.ErrNotFound, "s1#999": httpapi.ErrNotFound, "s1#0": httpapi.ErrInvalid, "s1#x": httpapi.ErrInvalid, "s9": httpapi.ErrNotFound} {
		if _, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: of}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", of, err, want)
		}
	}
}

func TestGraphIsDrawnInEveryForm(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	for form, want := range map[string]string{"": "{", "turngraph": "{", "prov-json": "{", "svg": "<svg"} {
		got, err := r.Graph(t.Context(), me(), &wire.GraphRequest{Session: "s1", Format: form})
		if err != nil || !strings.Contains(string(got.GetData()), want) || got.GetMediaType() == "" {
			t.Errorf("%q: %.40s, %v", form, got.GetData(), err)
		}
	}
	if _, err := r.Graph(t.Context(), me(), &wire.GraphRequest{Session: "s1", Format: "png"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a form nobody draws: %v", err)
	}
}

func TestStatusSaysWhereItsLimitsAre(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	for _, c := range []struct {
		mode     string
		apart    bool
		warnings int
	}{{"user", false, 3}, {"user", true, 2}, {"system", false, 2}, {"system", true, 1}} {
		r.Mode, r.Evidence.Apart = c.mode, c.apart
		s, err := r.Status(t.Context(), me(), &wire.StatusRequest{})
		if err != nil || len(s.GetWarnings()) != c.warnings || s.GetWarnings()[0] != "a note" {
			t.Errorf("%s, apart %v: %q, %v", c.mode, c.apart, s.GetWarnings(), err)
		}
		if s.GetSessions() != 1 || s.GetPending() != 1 || s.GetIncidents() != 1 || s.GetPolicy().GetProfile() != "assistant" {
			t.Errorf("%v", s)
		}
	}
	if s, err := r.Status(t.Context(), stranger(), &wire.StatusRequest{}); err != nil || s.GetSessions() != 0 || s.GetPending() != 0 {
		t.Errorf("a stranger sees %v, %v", s, err)
	}
}

func TestExportGivesEveryEntryOnce(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	r.tell("s2", hook.Event{Point: hook.SessionStart})
	take := func(q *wire.ExportRequest) (n int) {
		t.Helper()
		err := r.Export(t.Context(), me(), q, func(e *wire.ExportResponse) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	one, two := take(&wire.ExportRequest{Session: "s1"}), take(&wire.ExportRequest{Session: "s2"})
	if one < 4 || two < 1 || take(&wire.ExportRequest{}) != one+two || take(&wire.ExportRequest{Session: "s1", After: 2}) != one-2 {
		t.Errorf("%d and %d entries, all %d", one, two, take(&wire.ExportRequest{}))
	}
	stop := errors.New("stop")
	if err := r.Export(t.Context(), me(), &wire.ExportRequest{}, func(*wire.ExportResponse) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a taker that is gone: %v", err)
	}
}

// Sessions without entries for two days are not searched for questions and grants.
func TestOldSessionsAreNotAskedAbout(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	if got, err := r.Pending(t.Context(), me(), &wire.PendingRequest{}); err != nil || len(got.GetQuestions()) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	r.later(recentTime + time.Hour)
	if got, err := r.Pending(t.Context(), me(), &wire.PendingRequest{}); err != nil || len(got.GetQuestions()) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// The operator sees the policy's path on the machine, tenants do not.
func TestTenantsDoNotHearWhereThingsLie(t *testing.T) {
	r := newRoom(t)
	held := r.Rules("")
	held.File, held.Problems = "/srv/firm/policy.yaml", floodmark.Problems{{File: "/srv/firm/policy.yaml", Line: 3, Text: "no such key"}}
	r.Rules = func(string) Rules { return held }
	r.Reload = func(_ context.Context, tenant string) Rules { return r.Rules(tenant) }
	for tenant, told := range map[string]bool{"acme": false, "": true} {
		who := httpapi.Identity{Tenant: tenant, May: httpapi.OwnerMay}
		status, err := r.Status(t.Context(), who, &wire.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := r.ReloadPolicy(t.Context(), who, &wire.ReloadPolicyRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{status.String(), loaded.String()} {
			if strings.Contains(said, "/srv/firm") != told || strings.Contains(said, "no such key") != told || !strings.Contains(said, "policy.yaml") {
				t.Errorf("%q hears %s", tenant, said)
			}
		}
	}
}

// A silentJournal is a journal in a database that cannot be reached.
type silentJournal struct{ journal.Journal }

func (silentJournal) Recent(context.Context, string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		yield(journal.Head{}, errors.New("no route to db.example"))
	}
}

// If the journal cannot be read, status says what is wrong.
func TestStatusWithoutAJournal(t *testing.T) {
	r := newRoom(t)
	r.Journal = silentJournal{r.Journal}
	for _, who := range []httpapi.Identity{me(), stranger()} {
		s, err := r.Status(t.Context(), who, &wire.StatusRequest{})
		if err != nil || !strings.HasPrefix(s.GetWarnings()[0], "the journal does not answer") || strings.Contains(s.String(), "db.example") {
			t.Errorf("%v, %v", s, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := r.Status(ctx, me(), &wire.StatusRequest{}); err == nil {
		t.Errorf("whoever asked has gone: %v", s)
	}
}

// A session in which nothing waits is read once, and again as soon as it is written to.
func TestSettledSessionsAreReadOnce(t *testing.T) {
	r := newRoom(t)
	r.tell("quiet", hook.Event{Point: hook.SessionStart, Session: "quiet"})
	r.poisoned("s1")
	read := &reads{Journal: r.Journal}
	r.Journal = read
	look := func(want int, sessions ...floodmark.SessionID) {
		t.Helper()
		read.of = nil
		got, err := r.Pending(t.Context(), me(), &wire.PendingRequest{})
		if slices.Sort(read.of); err != nil || len(got.GetQuestions()) != want || !slices.Equal(read.of, sessions) {
			t.Errorf("%d questions, %v, read %q", len(got.GetQuestions()), err, read.of)
		}
	}
	look(1, "quiet", "s1")
	look(1, "s1")
	r.poisoned("quiet")
	look(2, "quiet", "s1")
}

// reads notes which sessions are read.
type reads struct {
	journal.Journal
	of []floodmark.SessionID
}

func (r *reads) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	r.of = append(r.of, s.ID)
	return r.Journal.Read(ctx, s, after)
}
