package kernel_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/kernel"
)

// asShown checks that a question on its way to a person is the open one, because an approval is for
// what was sent.
func asShown(s *kernel.State, at time.Time, t *approval.Ticket) error {
	open, ok := s.Book.ByID(t.ID, at)
	if !ok || t.Seen == "" || t.Seen != open.Seen() || t.Calls != len(open.Shown) {
		return fmt.Errorf("%s is sent with %d calls as %q, and open are %d as %q", t.ID, t.Calls, t.Seen, len(open.Shown), open.Seen())
	}
	return nil
}

// sameWords checks that a question as it was asked is the same as the one made from the facts
// alone: those up to the fact that shows it. All desks and histories of these tests do so with
// every question. The words on sources are not compared if the asking event itself brought content.
func sameWords(s *kernel.State, r kernel.Rules, in kernel.Input, before []floodmark.Fact, f floodmark.Fact, out kernel.Output) error {
	var shown floodmark.Shown
	switch f := f.(type) {
	case floodmark.TicketOpened:
		shown = f.Shown[0]
	case floodmark.TicketExtended:
		shown = f.Shown
	default:
		return nil
	}
	if out.Ask == nil {
		return nil
	}
	want := out.Ask.Call
	got, err := kernel.Words(s, r, in, shown, lastDecided(before))
	if slices.ContainsFunc(out.Facts, func(f floodmark.Fact) bool { _, ok := f.(floodmark.ContentSeen); return ok }) {
		got.Line, got.Sources, got.Led, got.Source = want.Line, want.Sources, want.Led, want.Source
	}
	got.Push, got.Remote = want.Push, want.Remote // a person is shown them once, and no fact has them
	if err == nil && !reflect.DeepEqual(got, want) {
		err = fmt.Errorf("the words of a question (-asked +from its facts):\n%s", cmp.Diff(want, got))
	}
	return err
}

func lastDecided(facts []floodmark.Fact) *floodmark.ActionDecided {
	for _, f := range slices.Backward(facts) {
		if d, ok := f.(floodmark.ActionDecided); ok {
			return &d
		}
	}
	return nil
}

// A question is worded by the decision that led to it and by no other.
func TestWordsAreThoseOfTheCall(t *testing.T) {
	d := tainted(t, "")
	d.call("mail", `{"to":"ann@corp.example","body":"hi"}`)
	shown := d.state.Book.Tickets[0].Shown[0]
	led := lastDecided(d.facts)
	if _, err := kernel.Words(d.state, d.rules, kernel.Input{}, shown, led); err != nil {
		t.Fatal(err)
	}
	other, allowed := *led, *led
	other.Action.ArgsDigest = floodmark.DigestOf("other arguments")
	allowed.Decision.Verdict = floodmark.Allow
	for name, f := range map[string]*floodmark.ActionDecided{"none": nil, "other arguments": &other, "not asked about": &allowed} {
		if q, err := kernel.Words(d.state, d.rules, kernel.Input{}, shown, f); !errors.Is(err, kernel.ErrUndecided) || q.Line != "" {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}
