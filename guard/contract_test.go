package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/wire"
)

// The contract is the table of answers that every client must obey, in any language. This test also
// compares the table with package hook, so that no client can agree with a wrong table.

type contractCase struct {
	Name  string
	Do    string
	Start struct {
		Project, Home string
		Resume        bool
	}
	Said struct {
		Text   string
		Typed  bool
		Parts  []hook.Content
		Origin floodmark.Origin
	}
	Call      hook.Call
	Returns   json.RawMessage
	Raises    string
	Emit      struct{ Text, To string }
	Exchanges []struct {
		Request, Reply json.RawMessage
	}
	Ran     bool
	Outcome struct {
		OK                      json.RawMessage
		Denied, Withheld, Error string
		Ticket                  floodmark.TicketID
		Heard                   *guard.Heard
	}
}

func contract(t *testing.T) []contractCase {
	t.Helper()
	data, err := os.ReadFile("../integrations/testdata/contract.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Cases []contractCase }
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Cases) < 40 {
		t.Fatalf("%d cases, there were more", len(table.Cases))
	}
	return table.Cases
}

// scripted answers as the table says, and checks the events that it gets against the table.
type scripted struct {
	t     *testing.T
	c     contractCase
	heard int
}

func (s *scripted) Handle(_ context.Context, ev hook.Event) (hook.Reply, error) {
	if s.c.Do != "start" && ev.Point == hook.SessionStart {
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
	}
	if s.heard == len(s.c.Exchanges) {
		s.t.Errorf("more was sent: %s", ev.Point)
		return hook.Reply{}, errors.New("nothing more")
	}
	x := s.c.Exchanges[s.heard]
	s.heard++
	got, err := json.Marshal(ev)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(value(s.t, x.Request), value(s.t, got)); diff != "" {
		s.t.Errorf("sent (-want +got):\n%s", diff)
	}
	if x.Reply == nil {
		return hook.Reply{}, errors.New("no answer")
	}
	var r wire.Reply
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(x.Reply, &r); err != nil {
		return hook.Reply{}, err
	}
	return r.Hook()
}

func value(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestContract(t *testing.T) {
	for _, c := range contract(t) {
		t.Run(c.Name, func(t *testing.T) {
			for _, x := range c.Exchanges {
				if _, err := hook.Decode(x.Request); err != nil {
					t.Errorf("the table sends what nobody understands: %v", err)
				}
			}
			j := &scripted{t: t, c: c}
			got, ran, err := perform(t, j, c)
			if j.heard != len(c.Exchanges) {
				t.Errorf("%d of %d events were sent", j.heard, len(c.Exchanges))
			}
			if ran != c.Ran {
				t.Errorf("the tool ran: %t, want %t", ran, c.Ran)
			}
			outcome(t, c, got, err)
		})
	}
}

func perform(t *testing.T, j guard.Judge, c contractCase) (got any, ran bool, err error) {
	t.Helper()
	ctx := t.Context()
	s, err := guard.Start(ctx, j, guard.Options{
		Agent: "helper", Session: "s1", Project: c.Start.Project, Home: c.Start.Home, Resume: c.Start.Resume, Timeout: time.Minute,
	})
	if err != nil {
		return nil, false, err
	}
	switch c.Do {
	case "said":
		m := guard.Message{Origin: c.Said.Origin, Text: c.Said.Text, Typed: c.Said.Typed, Parts: c.Said.Parts}
		if m.Origin.IsZero() && !m.Typed {
			got, err = s.Said(ctx, m.Text)
			return got, false, err
		}
		if m.Origin.IsZero() {
			m.Origin = floodmark.Origin{Kind: floodmark.FromSender, Name: "helper", Sender: "owner", IsOwner: true}
		}
		got, err = s.Hear(ctx, m)
	case "tool":
		got, err = s.Run(ctx, c.Call, func(context.Context) (string, error) {
			ran = true
			if c.Raises != "" {
				return "", errors.New(c.Raises)
			}
			var text string
			if json.Unmarshal(c.Returns, &text) == nil {
				return text, nil
			}
			return guard.Text(value(t, c.Returns))
		})
	case "emit":
		got, err = s.Emit(ctx, hook.Audience(c.Emit.To), c.Emit.Text)
	case "end":
		err = s.End(ctx)
	}
	return got, ran, err
}

func outcome(t *testing.T, c contractCase, got any, err error) {
	t.Helper()
	no, denied := errors.AsType[*guard.Denied](err)
	kept, withheld := errors.AsType[*guard.Withheld](err)
	want := c.Outcome
	switch {
	case want.Denied != "":
		if !denied || no.Error() != want.Denied || no.Ticket != want.Ticket {
			t.Errorf("got %v, want a refusal %q", err, want.Denied)
		}
	case want.Withheld != "":
		if !withheld || denied || kept.Error() != want.Withheld || got != "" {
			t.Errorf("got %v with %v, want it withheld", got, err)
		}
	case want.Error != "":
		if err == nil || err.Error() != want.Error {
			t.Errorf("got %v, want the tool's error %q", err, want.Error)
		}
	case err != nil:
		t.Error(err)
	case want.Heard != nil:
		if got != *want.Heard {
			t.Errorf("heard %+v, want %+v", got, *want.Heard)
		}
	case c.Do == "emit" && got != value(t, want.OK):
		t.Errorf("got %q, want %s", got, want.OK)
	}
}
