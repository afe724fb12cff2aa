package daemon

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/membership"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// asksAbout makes a laptop ask, and returns the question.
func (r *runner) asksAbout(t *testing.T, s floodmark.SessionID, what string) string {
	t.Helper()
	c := r.hooks(t)
	poison(t, c, s)
	reply := tell(t, c, wants(s, what))
	if reply.Ticket == "" {
		t.Fatalf("no question: %+v", reply)
	}
	return string(reply.Ticket)
}

// pendingOf returns a question that a laptop asks its fleet, as the token's holder sees it.
func (f *fleet) pendingOf(r *runner, token, ticket string) *wire.Question {
	f.t.Helper()
	r.asks()
	list, err := f.by(token).Owner().Pending(f.t.Context(), &wire.PendingRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, q := range list.GetQuestions() {
		if q.GetTicket() == ticket {
			return q
		}
	}
	f.t.Fatalf("the fleet does not see %s", ticket)
	return nil
}

// A laptop's questions are shown to the right group of its own tenant, without
// codes; a member's yes lets the call through there, a no does not, and both
// journals have who said it.
func TestALaptopAsksItsGroup(t *testing.T) {
	t.Parallel()
	f, idp := routedFleet(t)
	r := newLaptop(t, t.TempDir(), func(*Options) {})
	machine := r.join(t, f, "acme").GetMachine()
	ticket := r.asksAbout(t, "s1", "x")
	anna := person(idp, "anna", "acme", "platform")
	q := f.pendingOf(r, anna, ticket)
	if q.GetCode() != "" || len(q.GetCalls()) != 1 || len(q.GetCalls()[0].GetCard()) == 0 || q.GetSession() != "laptop/"+machine+"/s1" {
		t.Errorf("%v", q)
	}
	yes := &wire.AnswerRequest{Verb: "approve", Session: q.GetSession(), Ticket: ticket, Calls: 1, Seen: q.GetSeen()}
	for name, token := range map[string]string{
		"another group": person(idp, "ben", "acme", "oncall"), "another tenant": person(idp, "eve", "beta", "platform"), "a viewer": person(idp, "vera", "acme", "engineering"),
		"no group": f.token("acme", "tom", httpapi.OwnerMay),
	} {
		if list, err := f.by(token).Owner().Pending(t.Context(), &wire.PendingRequest{}); err != nil || len(list.GetQuestions()) > 0 {
			t.Errorf("%s sees %v, %v", name, list, err)
		}
		if got, err := f.by(token).Owner().Answer(t.Context(), yes); err == nil {
			t.Errorf("%s answers: %v", name, got)
		}
	}
	member := f.by(anna).Owner()
	for what, change := range map[string]func(*wire.AnswerRequest){
		"not all calls": func(r *wire.AnswerRequest) { r.Calls = 2 }, "calls unseen": func(r *wire.AnswerRequest) { r.Calls = 0 }, "seen otherwise": func(r *wire.AnswerRequest) { r.Seen = "another" },
		"a time of its own": func(r *wire.AnswerRequest) { r.Minutes = 60 }, "an offer that is none": func(r *wire.AnswerRequest) { r.Offer = 3 },
	} {
		wrong := proto.CloneOf(yes)
		change(wrong)
		if got, err := member.Answer(t.Context(), wrong); err == nil && got.GetAnswered() {
			t.Errorf("%s: %v", what, got)
		}
	}
	if got, err := member.Answer(t.Context(), yes); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	r.asks()
	if v := tell(t, r.hooks(t), wants("s1", "x")).Decision.Verdict; v != floodmark.Allow {
		t.Errorf("after the answer: %v", v)
	}
	if got, err := member.Answer(t.Context(), &wire.AnswerRequest{Verb: "deny", Session: q.GetSession(), Ticket: ticket}); err == nil && got.GetAnswered() {
		t.Errorf("answered twice: %v", got)
	}
	if facts := r.facts(t, "s1"); !strings.Contains(facts, `"by":"anna","channel":"fleet"`) {
		t.Errorf("the laptop's journal: %s", facts)
	}
	if list, err := f.by(f.token("acme", "admin", httpapi.OwnerMay)).Owner().Status(t.Context(), &wire.StatusRequest{}); err != nil || !strings.Contains(strings.Join(list.GetWarnings(), " "), "laptop-answered") {
		t.Errorf("the fleet's journal: %v, %v", list.GetWarnings(), err)
	}
	f.noAtTheFleet(r, anna, person(idp, "eve", "beta", "platform"))
}

// noAtTheFleet holds that a member's no ends a laptop's question, and that a stranger's
// does not.
func (f *fleet) noAtTheFleet(r *runner, member, stranger string) {
	t := f.t
	t.Helper()
	ticket := r.asksAbout(t, "s2", "y")
	q := f.pendingOf(r, member, ticket)
	f.noAnswerOf(stranger, ticket)
	if got, err := f.by(member).Owner().Answer(t.Context(), &wire.AnswerRequest{Verb: "deny", Ticket: q.GetTicket()}); err != nil || !got.GetAnswered() {
		t.Fatalf("by the ticket alone: %v, %v", got, err)
	}
	if r.asks(); len(r.d.monitor.Pending("")) != 0 {
		t.Errorf("the question is not over: %v", r.d.monitor.Pending(""))
	}
	if facts := r.facts(t, "s2"); !strings.Contains(facts, `"channel":"fleet"`) {
		t.Errorf("the laptop's journal: %s", facts)
	}
}

// noAnswerOf: a token without rights to a question cannot answer it by its ticket.
func (f *fleet) noAnswerOf(token, ticket string) {
	f.t.Helper()
	if got, err := f.by(token).Owner().Answer(f.t.Context(), &wire.AnswerRequest{Verb: "deny", Ticket: ticket}); err == nil {
		f.t.Errorf("a stranger answers by the ticket: %v", got)
	}
}

// facts is all that a laptop wrote in a session.
func (r *runner) facts(t *testing.T, s floodmark.SessionID) (text string) {
	t.Helper()
	got, err := r.owner(t).Owner().Show(t.Context(), &wire.ShowRequest{Session: string(s), Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got.GetFacts() {
		text += e.GetBody() + "\n"
	}
	return text
}

// A laptop joined with NoAsking shows no question to its fleet; another, asked later, does.
func TestALaptopAsksNobody(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(*Options) {})
	r, other := newLaptop(t, t.TempDir(), func(*Options) {}), newLaptop(t, t.TempDir(), func(*Options) {})
	asks := other.join(t, f, "acme").GetMachine()
	q := f.joinRequest("acme")
	q.NoAsking = true
	if _, err := r.owner(t).Owner().Join(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	r.asksAbout(t, "s1", "x")
	r.inTouch(t)
	other.asksAbout(t, "s1", "x")
	for range 2 {
		other.asks()
		list, err := f.book.Asked(t.Context(), "acme", time.Time{})
		if err != nil || len(list) != 1 || list[0].Machine != machines.ID(asks) {
			t.Fatalf("%v, %v", list, err)
		}
		r.inTouch(t)
	}
}

// What a fleet answers without having been asked, or beyond what was shown, a
// laptop does not take.
func TestALaptopTakesNoMoreThanItAsked(t *testing.T) {
	t.Parallel()
	r := startWith(t, t.TempDir(), true, func(*Options) {})
	ticket := r.asksAbout(t, "s1", "x")
	a := membership.NewAsker(r.d.joinedParts(), r.d.opts.Log, nil)
	open, err := a.Open(t.Context())
	if err != nil || len(open) != 1 || open[0].GetTicket() != ticket || open[0].GetCode() != "" {
		t.Fatalf("%v, %v", open, err)
	}
	good := &wire.FleetAnswer{Ticket: ticket, Session: "s1", Verb: "approve", Calls: 1, By: "anna", Seen: open[0].GetSeen()}
	for what, change := range map[string]func(*wire.FleetAnswer){
		"another question": func(a *wire.FleetAnswer) { a.Ticket = "t-1" }, "another session": func(a *wire.FleetAnswer) { a.Session = "s2" },
		"no verb": func(a *wire.FleetAnswer) { a.Verb = "" }, "endorse": func(a *wire.FleetAnswer) { a.Verb = "endorse" },
		"calls unseen": func(a *wire.FleetAnswer) { a.Calls = 0 }, "more calls": func(a *wire.FleetAnswer) { a.Calls = 2 }, "an offer that is none": func(a *wire.FleetAnswer) { a.Offer = 9 },
		"another tool": func(a *wire.FleetAnswer) { a.Tool = "send_email" }, "seen otherwise": func(a *wire.FleetAnswer) { a.Seen = "another" },
	} {
		wrong := proto.CloneOf(good)
		change(wrong)
		a.Take(t.Context(), open, wrong)
		if got := tell(t, r.hooks(t), wants("s1", "x")).Decision.Verdict; got == floodmark.Allow {
			t.Errorf("%s: %v", what, got)
		}
		a = membership.NewAsker(r.d.joinedParts(), r.d.opts.Log, nil)
	}
	two := proto.CloneOf(open[0])
	two.Two = true
	a.Take(t.Context(), []*wire.Question{two}, good)
	if got := tell(t, r.hooks(t), wants("s1", "x")).Decision.Verdict; got == floodmark.Allow {
		t.Error("one for two")
	}
	a.Take(t.Context(), open, good)
	if got := tell(t, r.hooks(t), wants("s1", "x")).Decision.Verdict; got != floodmark.Allow {
		t.Errorf("a good answer: %v", got)
	}
}

// What is drawn is what «.approve» reads, and no code is like the one before.
func TestACodeHasEightHexDigits(t *testing.T) {
	seen := map[string]bool{}
	for range 64 {
		code := newCode()
		if raw, err := hex.DecodeString(code); err != nil || len(raw) != 4 || len(code) != approval.CodeLength || seen[code] {
			t.Errorf("%q: %v", code, err)
		}
		seen[code] = true
	}
}

// Each of a code's 32 bits is drawn: in 256 codes each is both 0 and 1. A counter
// or a clock leaves high bits as they are.
func TestEveryBitOfACodeIsDrawn(t *testing.T) {
	var ones, zeros uint32
	for range 256 {
		raw, err := hex.DecodeString(newCode())
		if err != nil {
			t.Fatal(err)
		}
		code := binary.BigEndian.Uint32(raw)
		ones, zeros = ones|code, zeros|^code
	}
	if ones != math.MaxUint32 || zeros != math.MaxUint32 {
		t.Errorf("bits that were ever 1: %032b, ever 0: %032b", ones, zeros)
	}
}
