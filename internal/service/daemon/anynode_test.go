package daemon

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// asksAt returns the questions that a token is shown at a node.
func asksAt(f *fleet, token string) []*wire.Question {
	f.t.Helper()
	got, err := f.by(token).Owner().Pending(f.t.Context(), &wire.PendingRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	return got.GetQuestions()
}

// member makes a token of an approver in a group.
func (f *fleet) member(tenant, name string, groups ...string) string {
	f.t.Helper()
	text, _, err := f.tokens.Create(httpapi.Token{Kind: httpapi.OwnerKind, Tenant: tenant, Name: name, May: httpapi.MayView | httpapi.MayApprove, Groups: groups})
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// nodesOf are two nodes over one database, where platform answers for exec of acme.
func nodesOf(t *testing.T) (a, b *fleet) {
	t.Helper()
	dsn, keys := newDatabase(t), sharedKeys(t)
	node := func() *fleet {
		return newFleet(t, func(o *Options) {
			o.Service.Journal.Store, o.Service.Keys = dsn, keys
			o.Service.Answers = []config.Answer{{Tenant: "acme", Tools: []string{"exec"}, Groups: []string{"platform"}}}
		})
	}
	return node(), node()
}

// Two nodes share one real database. A question of one is listed in the same words at the other and
// answered there, only by those who may. The waiting call goes on, also when the node that asked is
// gone.
func TestAnyNodeShowsAndAnswers(t *testing.T) {
	t.Parallel()
	a, b := nodesOf(t)
	watchedElsewhere(t, a, b)
	ctx := t.Context()
	ticket := a.question("acme", "s1")
	pam := b.member("acme", "pam", "platform")
	list := asksAt(b, pam)
	if len(list) != 1 || list[0].GetTicket() != ticket || len(list[0].GetCalls()) != 1 || len(list[0].GetCalls()[0].GetCard()) == 0 {
		t.Fatalf("at the other node: %v", list)
	}
	if diff := cmp.Diff(asksAt(a, a.member("acme", "pam", "platform")), list, protocmp.Transform()); diff != "" {
		t.Errorf("at the other node (-asked +other):\n%s", diff)
	}
	approve := &wire.AnswerRequest{Verb: "approve", Ticket: ticket, Calls: 1}
	for name, token := range map[string]string{
		"another group":  b.member("acme", "ben", "oncall"),
		"no group":       b.member("acme", "tom"),
		"another tenant": b.member("beta", "eve", "platform"),
	} {
		if list := asksAt(b, token); len(list) != 0 {
			t.Errorf("%s sees %v", name, list)
		}
		if got, err := b.by(token).Owner().Answer(ctx, approve); err == nil {
			t.Errorf("%s answers: %v", name, got)
		}
	}
	waits := make(chan floodmark.Verdict, 1)
	go func() {
		v, err := a.d.monitor.Await(ctx, journal.Session{Tenant: "acme", ID: "s1"}, floodmark.TicketID(ticket))
		if err != nil {
			t.Error(err)
		}
		waits <- v
	}()
	if got, err := b.by(pam).Owner().Answer(ctx, approve); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	if v := <-waits; v != floodmark.Allow {
		t.Errorf("whoever waits at the first node hears %v", v)
	}
	if v := tell(t, a.agent("acme"), wants("s1", "x")).Decision.Verdict; v != floodmark.Allow {
		t.Errorf("the call is %v", v)
	}

	ticket = a.question("acme", "s2")
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	if list = asksAt(b, pam); len(list) != 1 || len(list[0].GetCalls()[0].GetCard()) == 0 {
		t.Fatalf("when the node is gone: %v", list)
	}
	if got, err := b.by(pam).Owner().Answer(ctx, &wire.AnswerRequest{Verb: "approve", Ticket: ticket, Calls: 1}); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	if v := tell(t, b.agent("acme"), wants("s2", "x")).Decision.Verdict; v != floodmark.Allow {
		t.Errorf("the call is %v at the node that is left", v)
	}
}

// watchedElsewhere: a watcher at one node is told of a question that another node asks, and of its
// answer; a watcher of another group is told of no question.
func watchedElsewhere(t *testing.T, a, b *fleet) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := b.by(b.member("acme", "pia", "platform")).Owner().Watch(ctx, &wire.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	others, err := b.by(b.member("acme", "oda", "oncall")).Owner().Watch(ctx, &wire.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer others.Close()
	if !stream.Receive() || !others.Receive() { // they watch
		t.Fatal(stream.Err(), others.Err())
	}
	ticket := a.question("acme", "s0")
	for stream.Receive() && stream.Msg().GetAsked() == nil { // until it is there
	}
	if q := stream.Msg().GetAsked(); q.GetTicket() != ticket || len(q.GetCalls()) != 1 || len(q.GetCalls()[0].GetCard()) == 0 {
		t.Fatalf("heard at the other node: %v, %v", q, stream.Err())
	}
	deny := &wire.AnswerRequest{Verb: "deny", Ticket: ticket}
	if got, err := a.by(a.member("acme", "pia", "platform")).Owner().Answer(ctx, deny); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	for stream.Receive() && stream.Msg().GetAnswered() == nil { // until it is there
	}
	if got := stream.Msg(); got.GetAnswered().GetTicket() != ticket || got.GetSession() != "s0" || got.GetAnswered().GetBy() != "pia" {
		t.Fatalf("heard at the other node: %v, %v", got, stream.Err())
	}
	for others.Receive() && others.Msg().GetAnswered() == nil {
		if q := others.Msg().GetAsked(); q != nil {
			t.Errorf("another group hears %v", q)
		}
	}
}
