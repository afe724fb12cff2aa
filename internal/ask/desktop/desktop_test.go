package desktop

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An answer is a command that the desktop passed to the monitor.
type answer struct {
	session journal.Session
	cmd     approval.Command
}

func options(trusted func(int) bool) Options { return Options{UID: 1000, Trusted: trusted} }

// into returns an Answer that sends the commands to a channel.
func into(answers chan answer) Answer {
	return func(_ context.Context, s journal.Session, c approval.Command) (monitor.Answered, error) {
		answers <- answer{s, c}
		return monitor.Answered{}, nil
	}
}

func anybody(int) bool { return true }

func ticket() approval.Ticket {
	return approval.Ticket{ID: "t-1bd8", Session: "pi:1", Code: "3f9c21aa", Calls: 1, Seen: "seen", Call: approval.Question{
		Action: floodmark.Action{Kind: floodmark.CallTool, Tool: floodmark.ToolRef{Name: "<b>bash</b>"}},
	}}
}

// A question is shown with a button that says no, and with nothing that says yes.
func TestAQuestionIsShown(t *testing.T) {
	b, answers := newBus(t), make(chan answer, 8)
	d := b.run(into(answers), options(func(pid int) bool { return pid == 4711 }))
	b.there(true)
	if err := d.Ask(t.Context(), ticket()); err != nil {
		t.Fatal(err)
	}
	got := <-b.notify
	if actions, _ := got[5].([]string); len(actions) != 2 || actions[0] != no {
		t.Errorf("buttons: %v", got[5])
	}
	summary, body := got[3].(string), got[4].(string)
	if strings.Contains(summary+body, "3f9c21aa") || !strings.Contains(body, "t-1bd8") || !strings.Contains(body, "floodmark watch") {
		t.Errorf("%q, %q", summary, body)
	}
	if strings.Contains(body, "<b>") {
		t.Errorf("it obeys what others wrote: %q", body)
	}
	b.signal(theDesktop, object, service+"."+invoked, uint32(1), no)
	if a := <-answers; a.cmd.Verb != approval.Deny || a.cmd.Ticket != "t-1bd8" || a.session.ID != "pi:1" || a.cmd.Channel != "desktop" {
		t.Errorf("%+v", a)
	}
	if len(b.autos) > 0 {
		t.Errorf("it would start a program: %s", <-b.autos)
	}
}

// No signal from the bus approves, and only the service that shows a notification can deny.
func TestWhatAnswersNothing(t *testing.T) {
	b, answers := newBus(t), make(chan answer, 8)
	d := b.run(into(answers), options(anybody))
	b.there(true)
	if err := d.Ask(t.Context(), ticket()); err != nil {
		t.Fatal(err)
	}
	<-b.notify
	for _, forged := range []struct{ sender, path, name string }{
		{":1.66", object, service + "." + invoked},
		{service, object, service + "." + invoked},
		{"", object, service + "." + invoked},
		{theDesktop, "/elsewhere", service + "." + invoked},
		{theDesktop, object, "org.example.Notifications." + invoked},
	} {
		b.signal(forged.sender, forged.path, forged.name, uint32(1), no)
	}
	for _, action := range []string{"yes", "default", "allow", "approve", ""} {
		b.signal(theDesktop, object, service+"."+invoked, uint32(1), action)
	}
	b.signal(theDesktop, object, service+"."+invoked, uint32(2), no)
	b.signal(theDesktop, object, service+"."+invoked, "1", no)
	b.signal(":1.66", busPath, bus+"."+newOwner, service, theDesktop, ":1.66") // only the bus says that
	b.signal(theDesktop, object, service+"."+invoked, uint32(1), no)           // the first valid signal
	if a := <-answers; a.cmd.Verb != approval.Deny {
		t.Errorf("%+v", a)
	}
	if len(answers) > 0 {
		t.Errorf("a forged answer: %+v", <-answers)
	}
}

// If another service replaces the desktop, it is checked again, and it cannot answer questions that
// were shown before.
func TestAnotherDesktop(t *testing.T) {
	b, answers := newBus(t), make(chan answer, 8)
	d := b.run(into(answers), options(anybody))
	b.there(true)
	if err := d.Ask(t.Context(), ticket()); err != nil {
		t.Fatal(err)
	}
	<-b.notify
	b.mu.Lock()
	b.owner = ":1.66"
	b.mu.Unlock()
	b.signal(bus, busPath, bus+"."+newOwner, service, theDesktop, "")
	b.there(false)
	b.signal(bus, busPath, bus+"."+newOwner, service, "", ":1.66")
	b.there(true)
	b.signal(theDesktop, object, service+"."+invoked, uint32(1), no)
	b.signal(":1.66", object, service+"."+invoked, uint32(1), no)
	if err := d.Ask(t.Context(), ticket()); err != nil {
		t.Fatal(err)
	}
	<-b.notify
	b.signal(":1.66", object, service+"."+invoked, uint32(2), no)
	<-answers
	if len(answers) > 0 {
		t.Errorf("it answered for another: %+v", <-answers)
	}
}

// A service that an agent has started is not shown any question.
func TestTheAgentIsNotTheDesktop(t *testing.T) {
	b := newBus(t)
	d := b.run(nil, options(func(pid int) bool { return pid != 4711 }))
	b.there(true)
	if err := d.Ask(t.Context(), ticket()); !errors.Is(err, ErrNotTheDesktop) || len(b.notify) > 0 {
		t.Errorf("%v, %d shown", err, len(b.notify))
	}
}

// A question that was answered elsewhere is dismissed, and a dismissed notification cannot answer.
func TestAQuestionIsOver(t *testing.T) {
	b, answers := newBus(t), make(chan answer, 8)
	d := b.run(into(answers), options(anybody))
	b.there(true)
	for range 2 {
		if err := d.Ask(t.Context(), ticket()); err != nil {
			t.Fatal(err)
		}
		<-b.notify
	}
	b.signal(theDesktop, object, service+"."+closed, uint32(1), uint32(2))
	b.signal(theDesktop, object, service+"."+invoked, uint32(1), no)
	b.signal(theDesktop, object, service+"."+invoked, uint32(2), no)
	<-answers
	if len(answers) > 0 {
		t.Errorf("a notification that was put away answered")
	}
	if err := d.Ask(t.Context(), ticket()); err != nil {
		t.Fatal(err)
	}
	<-b.notify
	if err := d.Closed(t.Context(), "pi:1", "t-1bd8", approval.Outcome{}); err != nil {
		t.Fatal(err)
	}
	if id := <-b.closes; id != 3 {
		t.Errorf("put away: %d", id)
	}
}

// Without a notification service, and for another tenant's questions, nothing is shown.
func TestNobodyShowsIt(t *testing.T) {
	b := newBus(t)
	b.owner = ""
	d := b.run(nil, options(anybody))
	b.there(false)
	if err := d.Ask(t.Context(), ticket()); err != nil || d.There() || len(b.notify) > 0 {
		t.Errorf("%v, there %v", err, d.There())
	}
	none := New(options(anybody))
	if err := none.Begin(nil)(); err != nil || none.There() || none.Ask(t.Context(), ticket()) != nil {
		t.Error("without a bus")
	}
	other := ticket()
	other.Tenant = "acme"
	b2 := newBus(t)
	d = b2.run(nil, options(anybody))
	b2.there(true)
	if err := d.Ask(t.Context(), other); err != nil || len(b2.notify) > 0 {
		t.Errorf("another tenant's: %v", err)
	}
}
