package owner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// The code of a question is shown only at a terminal.
func TestACodeIsShownAtATerminalOnly(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	for name, c := range map[string]struct {
		ctx  context.Context
		want string
	}{"terminal": {httpapi.AtTerminal(t.Context()), r.codes.of("s1").Code}, "script": {t.Context(), ""}} {
		got, err := r.Pending(c.ctx, me(), &wire.PendingRequest{})
		if err != nil || len(got.GetQuestions()) != 1 {
			t.Fatalf("%v, %v", got, err)
		}
		if q := got.GetQuestions()[0]; q.GetCode() != c.want || len(q.GetCalls()) != 1 || q.GetCalls()[0].GetLine() == "" {
			t.Errorf("%s: %v", name, q)
		}
	}
	if got, err := r.Pending(httpapi.AtTerminal(t.Context()), stranger(), &wire.PendingRequest{}); err != nil || len(got.GetQuestions()) != 0 {
		t.Errorf("a stranger sees %v, %v", got, err)
	}
}

// On the owner's socket, an approval needs the code, and a ticket is enough for a denial. On other
// ways the caller was authenticated, and a ticket is always enough.
func TestWhoMayAnswerHow(t *testing.T) {
	for name, c := range map[string]struct {
		who      httpapi.Identity
		verb     string
		byCode   bool
		answered bool
		want     error
	}{
		"approve by code":             {me(), "approve", true, true, nil},
		"approve by ticket":           {me(), "approve", false, false, httpapi.ErrInvalid},
		"deny by ticket":              {me(), "deny", false, true, nil},
		"approve from away":           {away(), "approve", false, true, nil},
		"a word that is none":         {me(), "allow", true, false, httpapi.ErrInvalid},
		"a stranger, by code":         {stranger(), "approve", true, false, httpapi.ErrNotFound},
		"a stranger, by ticket":       {stranger(), "approve", false, false, httpapi.ErrNotFound},
		"a stranger denies by ticket": {stranger(), "deny", false, false, httpapi.ErrNotFound},
	} {
		r := newRoom(t)
		r.poisoned("s1")
		q := &wire.AnswerRequest{Verb: c.verb, Calls: 1, Session: "s1", Ticket: string(r.codes.of("s1").ID)}
		if c.byCode {
			q = &wire.AnswerRequest{Verb: c.verb, Code: " " + r.codes.of("s1").Code + " "}
		}
		got, err := r.Answer(t.Context(), c.who, q)
		if !errors.Is(err, c.want) || c.want == nil && err != nil || got.GetAnswered() != c.answered {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		want := floodmark.Confirm
		if c.answered && c.verb == "approve" {
			want = floodmark.Allow
		}
		if v := r.tell("s1", r.install()).Decision.Verdict; v > want {
			t.Errorf("%s: the call is then %v, want %v", name, v, want)
		} else if want == floodmark.Allow && v != want {
			t.Errorf("%s: the call is still %v", name, v)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	most := int32(approval.MaxFor / time.Minute)
	for _, minutes := range []int32{-1, most + 1} {
		if _, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: r.codes.of("s1").Code, Minutes: minutes}); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%d minutes: %v", minutes, err)
		}
	}
	if _, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: "00000000"}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("a code nobody has: %v", err)
	}
	if got, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: "00000000", Session: "s1"}); err != nil || got.GetAnswered() {
		t.Errorf("a guess: %v, %v", got, err)
	}
	if got, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: r.codes.of("s1").Code, Minutes: most}); err != nil || !got.GetAnswered() {
		t.Errorf("at the limit: %v, %v", got, err)
	}
}

// A grant is listed and can be ended.
func TestAGrantEnds(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	ticket := string(r.codes.of("s1").ID)
	if _, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: r.codes.of("s1").Code, Minutes: 10}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Grants(t.Context(), me(), &wire.GrantsRequest{})
	if err != nil || len(got.GetGrants()) != 1 || got.GetGrants()[0].GetUntil() == nil {
		t.Fatalf("%v, %v", got, err)
	}
	for name, want := range map[string]error{"": httpapi.ErrNotFound, ticket[len(ticket)-3:]: httpapi.ErrNotFound, "none-of-these": httpapi.ErrNotFound} {
		if did, err := r.EndGrant(t.Context(), me(), &wire.EndGrantRequest{Ticket: name}); !errors.Is(err, want) || did.GetDone() {
			t.Errorf("by the name %q: %v, %v", name, did, err)
		}
	}
	if _, err := r.EndGrant(t.Context(), stranger(), &wire.EndGrantRequest{Session: "s1", Ticket: ticket}); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("a stranger ends it: %v", err)
	}
	if did, err := r.EndGrant(t.Context(), me(), &wire.EndGrantRequest{Ticket: ticket[len(ticket)-4:]}); err != nil || !did.GetDone() {
		t.Errorf("%v, %v", did, err)
	}
	if v := r.tell("s1", r.install()).Decision.Verdict; v != floodmark.Confirm {
		t.Errorf("after it was ended: %v", v)
	}
}

// A script cannot endorse content. A person at a terminal can, and can withdraw it.
func TestVouchingNeedsAPerson(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	digest := floodmark.DigestOf(poison).String()
	endorse := &wire.EndorseRequest{Session: "s1", Digest: digest}
	if _, err := r.Endorse(t.Context(), me(), endorse); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a script: %v", err)
	}
	if _, err := r.Endorse(httpapi.AtTerminal(t.Context()), me(), &wire.EndorseRequest{Session: "s1", Digest: "ab"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("too few digits: %v", err)
	}
	did, err := r.Endorse(httpapi.AtTerminal(t.Context()), me(), endorse)
	if err != nil || !did.GetDone() || did.GetMark().GetTrust() == "untrusted" {
		t.Fatalf("%v, %v", did, err)
	}
	if _, err := r.Withdraw(t.Context(), me(), &wire.WithdrawRequest{Session: "s1", Digest: digest}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a script takes it back: %v", err)
	}
	back, err := r.Withdraw(httpapi.AtTerminal(t.Context()), me(), &wire.WithdrawRequest{Session: "s1", Digest: digest})
	if err != nil || !back.GetDone() || back.GetMark().GetTrust() != "untrusted" {
		t.Errorf("%v, %v", back, err)
	}
}

// A fleetOf is a Fleet that needs a session.
type fleetOf struct {
	Fleet
	needs journal.Session
}

func (f fleetOf) Needs(s journal.Session) bool { return s == f.needs }

// The session with the record of joining a fleet cannot be erased.
func TestForgetSpares(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	r.poisoned("s2")
	r.Fleet = fleetOf{needs: journal.Session{Tenant: me().Tenant, ID: "s1"}}
	if _, err := r.Forget(httpapi.AtTerminal(t.Context()), me(), &wire.ForgetRequest{Session: "s1"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("it was erased: %v", err)
	}
	if _, err := r.Forget(httpapi.AtTerminal(t.Context()), me(), &wire.ForgetRequest{Session: "s2"}); err != nil {
		t.Error(err)
	}
}

// A session that was erased is not listed as open. It keeps its mark, and if it goes on it is open
// again.
func TestAForgottenSessionIsNotOpen(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	q := &wire.ForgetRequest{Session: "s1"}
	if _, err := r.Forget(t.Context(), me(), q); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a script: %v", err)
	}
	if _, err := r.Forget(httpapi.AtTerminal(t.Context()), me(), q); err != nil {
		t.Fatal(err)
	}
	look := func() *wire.ShowResponse {
		t.Helper()
		got, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := look()
	s := got.GetSession()
	if !s.GetClosed() || s.GetOpened() != nil || s.GetWritten() == nil || s.GetMark().GetTrust() != "untrusted" || got.GetTombstone() == nil {
		t.Errorf("%v", got)
	}
	if open, err := r.Sessions(t.Context(), me(), &wire.SessionsRequest{Open: true}); err != nil || len(open.GetSessions()) != 0 {
		t.Errorf("among the open ones: %v, %v", open, err)
	}
	r.tell("s1", hook.Event{Point: hook.SessionStart, Cause: hook.Resume})
	r.tell("s1", r.install())
	if why, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: "s1"}); err != nil || len(why.GetExplanations()) != 1 || strings.Contains(strings.Join(why.GetExplanations()[0].GetSources(), ""), "since turn") {
		t.Errorf("nobody knows when it came in: %v, %v", why, err)
	}
	if s := look().GetSession(); s.GetClosed() || s.GetOpened() == nil || s.GetMark().GetTrust() != "untrusted" {
		t.Errorf("after it went on: %v", s)
	}
}
