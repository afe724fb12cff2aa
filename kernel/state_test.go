package kernel_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

// A journal that cannot have been written is not replayed.
func TestReplayRefuses(t *testing.T) {
	opened := floodmark.SessionOpened{Agent: "a"}
	source := floodmark.Source{Node: 7, Kind: floodmark.NodeInput}
	for name, c := range map[string]struct {
		facts []floodmark.Fact
		want  string
	}{
		"never opened":     {[]floodmark.Fact{floodmark.TurnOpened{Turn: 1}}, "fact 0: kernel: the session was never opened"},
		"opened twice":     {[]floodmark.Fact{opened, opened}, "fact 1: kernel: session opened twice"},
		"forked twice":     {[]floodmark.Fact{opened, floodmark.SessionForked{}}, "fact 1: kernel: session opened twice"},
		"gap":              {[]floodmark.Fact{opened, floodmark.ContentSeen{Source: source}}, "fact 1: kernel: "},
		"gap of a child":   {[]floodmark.Fact{opened, floodmark.ChildEnded{Sources: []floodmark.Source{source}}}, "fact 1: kernel: "},
		"gap of a parent":  {[]floodmark.Fact{floodmark.SessionForked{Sources: []floodmark.Source{source}}}, "fact 0: kernel: "},
		"arrived nowhere":  {[]floodmark.Fact{opened, floodmark.ContentArrived{Node: 3}}, "fact 1: kernel: "},
		"nothing":          {[]floodmark.Fact{opened, nil}, "fact 1: kernel: no rule for fact <nil>"},
		"nothing at first": {[]floodmark.Fact{nil}, "fact 0: kernel: the session was never opened"},
	} {
		s, err := kernel.Replay(c.facts)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || s != nil {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// A fact that is refused leaves the state as it was, also while calls are under way.
func TestARefusedFactChangesNothing(t *testing.T) {
	source := floodmark.Source{Node: 7, Kind: floodmark.NodeInput}
	d := newDesk(t, "")
	d.owner("look")
	d.call("look", `{"q":"x"}`)
	before, _ := d.state.Snapshot()
	for _, f := range []floodmark.Fact{
		floodmark.ContentSeen{Source: source, Text: "never said"},
		floodmark.ContentArrived{Node: 3},
		floodmark.ContentArrived{Node: floodmark.NodeID(d.state.Ledger.Len() - 1), Label: floodmark.Label{Trust: 99}},
		floodmark.ChildEnded{Sources: []floodmark.Source{source}},
		floodmark.SessionOpened{Agent: "a"},
	} {
		if err := d.state.Apply(f); err == nil {
			t.Errorf("%T is not refused", f)
		}
		if after, _ := d.state.Snapshot(); !reflect.DeepEqual(after, before) {
			t.Errorf("%T changed the state:\n%s\n%s", f, before, after)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	for _, wrong := range []string{"", "[]", `{"turn":"one"}`} {
		if s, err := kernel.Restore([]byte(wrong)); err == nil || s != nil || !strings.HasPrefix(err.Error(), "restore session: ") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// The fact that opens a session sets its state. A branch takes over words, sources and
// endorsements.
func TestOpen(t *testing.T) {
	page := floodmark.Source{Kind: floodmark.NodeInput, Digest: floodmark.DigestOf("x"), Label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}}
	fork, err := kernel.Replay([]floodmark.Fact{floodmark.SessionForked{
		Agent: "a", Parent: "p", Project: "/w", Home: "/h", Sources: []floodmark.Source{page}, Stated: []string{"write to bob@example.com"},
		Endorsed: []floodmark.Endorsed{{Digest: page.Digest, Trust: floodmark.Local}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !fork.Opened || fork.Agent != "a" || fork.Parent != "p" || fork.Project != "/w" || fork.Home != "/h" || len(fork.Owner) != 1 || fork.Mark().Trust != floodmark.Local {
		t.Errorf("a branch: %+v, mark %v", fork, fork.Mark())
	}
	root, err := kernel.Replay([]floodmark.Fact{floodmark.SessionOpened{Agent: "a", Project: "/w", Home: "/h"}})
	if err != nil {
		t.Fatal(err)
	}
	if !root.Opened || root.Agent != "a" || root.Parent != "" || root.Project != "/w" || root.Home != "/h" {
		t.Errorf("a session: %+v", root)
	}
}

func model(iteration int, v floodmark.Verdict) floodmark.ActionDecided {
	return floodmark.ActionDecided{
		Action: floodmark.Action{Kind: floodmark.CallModel, Iteration: iteration}, Mark: floodmark.Clean(), Decision: floodmark.Decision{Verdict: v},
	}
}

func refusedCall(id, tool, args string, v floodmark.Verdict) floodmark.ActionDecided {
	return floodmark.ActionDecided{
		Action: floodmark.Action{
			Kind: floodmark.CallTool, Call: floodmark.CallID(id), Tool: floodmark.ToolRef{Name: tool}, ArgsDigest: floodmark.DigestOf(args),
		},
		Decision: floodmark.Decision{Verdict: v},
	}
}

// Rounds are counted from what was said or from what was seen, whichever is more. A turn begins at
// none.
func TestIterations(t *testing.T) {
	for name, c := range map[string]struct {
		facts   []floodmark.Fact
		rounds  int
		stopped bool
	}{
		"none":            {nil, 0, false},
		"one":             {[]floodmark.Fact{model(0, floodmark.Allow)}, 1, false},
		"two":             {[]floodmark.Fact{model(0, floodmark.Allow), model(0, floodmark.Allow)}, 2, false},
		"said to be 7":    {[]floodmark.Fact{model(7, floodmark.Allow)}, 8, false},
		"said to be few":  {[]floodmark.Fact{model(7, floodmark.Allow), model(1, floodmark.Allow)}, 9, false},
		"started":         {[]floodmark.Fact{floodmark.IterationOpened{Iteration: 4}, floodmark.IterationOpened{Iteration: 2}}, 5, false},
		"started, called": {[]floodmark.Fact{floodmark.IterationOpened{Iteration: 4}, model(4, floodmark.Allow), model(0, floodmark.Allow)}, 6, false},
		"confirm":         {[]floodmark.Fact{model(0, floodmark.Confirm)}, 1, false},
		"stopped":         {[]floodmark.Fact{model(0, floodmark.Restrict), model(0, floodmark.Allow)}, 2, true},
		"turn over":       {[]floodmark.Fact{model(0, floodmark.Restrict), floodmark.TurnClosed{Turn: 1}}, 0, false},
		"next turn":       {[]floodmark.Fact{model(0, floodmark.Restrict), floodmark.TurnOpened{Turn: 2}}, 0, false},
		"a reply":         {[]floodmark.Fact{floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.SendReply}}}, 0, false},
	} {
		s, err := kernel.Replay(append([]floodmark.Fact{floodmark.SessionOpened{}, floodmark.TurnOpened{Turn: 1}}, c.facts...))
		if err != nil {
			t.Fatal(err)
		}
		if s.Iteration != c.rounds || s.Stopped != c.stopped {
			t.Errorf("%s: %d rounds, stopped %v", name, s.Iteration, s.Stopped)
		}
	}
}

// The refused calls of this turn are kept, each once, without those that were let through after
// all.
func TestRefused(t *testing.T) {
	no, yes := floodmark.Confirm, floodmark.Allow
	for name, c := range map[string]struct {
		facts []floodmark.Fact
		want  string
	}{
		"allowed":        {[]floodmark.Fact{refusedCall("1", "x", "a", yes)}, ""},
		"audit":          {[]floodmark.Fact{refusedCall("1", "x", "a", floodmark.Audit)}, "1"},
		"two":            {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("2", "x", "b", no)}, "1 2"},
		"again":          {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("2", "x", "a", no)}, "2"},
		"other tool":     {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("2", "y", "a", no)}, "1 2"},
		"same id":        {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("1", "y", "b", no)}, "1"},
		"then allowed":   {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("2", "x", "a", yes)}, ""},
		"other allowed":  {[]floodmark.Fact{refusedCall("1", "x", "a", no), refusedCall("2", "x", "b", yes)}, "1"},
		"turn over":      {[]floodmark.Fact{refusedCall("1", "x", "a", no), floodmark.TurnClosed{Turn: 1}}, ""},
		"context empty":  {[]floodmark.Fact{refusedCall("1", "x", "a", no), floodmark.ContextCleared{}}, ""},
		"the model runs": {[]floodmark.Fact{refusedCall("1", "x", "a", no), model(0, yes)}, "1"},
	} {
		s, err := kernel.Replay(append([]floodmark.Fact{floodmark.SessionOpened{}, floodmark.TurnOpened{Turn: 1}}, c.facts...))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range s.Refused {
			got = append(got, string(r.Call))
		}
		if strings.Join(got, " ") != c.want || c.want == "" && s.Refused != nil {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// A turn that refuses or proposes very many calls keeps the newest.
func TestStateIsBounded(t *testing.T) {
	const limit = 256
	for _, n := range []int{limit, limit + 1} {
		s, err := kernel.Replay([]floodmark.Fact{floodmark.SessionOpened{}, floodmark.TurnOpened{Turn: 1}})
		if err != nil {
			t.Fatal(err)
		}
		var answer floodmark.ModelAnswered
		for i := range n {
			id := fmt.Sprint(i)
			answer.Calls = append(answer.Calls, floodmark.Proposed{Call: floodmark.CallID(id)})
			if err := s.Apply(refusedCall(id, "x", id, floodmark.Restrict)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Apply(answer); err != nil {
			t.Fatal(err)
		}
		first := floodmark.CallID(fmt.Sprint(n - limit))
		if len(s.Refused) != limit || s.Refused[0].Call != first || len(s.Proposed) != limit || s.Proposed[0].Call != first {
			t.Errorf("of %d: %d refused from %s, %d proposed from %s", n, len(s.Refused), s.Refused[0].Call, len(s.Proposed), s.Proposed[0].Call)
		}
		if answer.Calls[0].Call != "0" || len(answer.Calls) != n {
			t.Error("the fact itself was changed")
		}
	}
}

// A model call is the context of its first answer only.
func TestContext(t *testing.T) {
	seen := func(node floodmark.NodeID) floodmark.ContentSeen {
		return floodmark.ContentSeen{Source: floodmark.Source{Node: node, Kind: floodmark.NodeInput, Label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public}}}
	}
	answer := floodmark.ModelAnswered{Calls: []floodmark.Proposed{{Call: "c"}}}
	for name, c := range map[string]struct {
		facts    []floodmark.Fact
		nodes    floodmark.NodeID
		trust    floodmark.Trust
		answered bool
		proposed int
	}{
		"a call":          {[]floodmark.Fact{model(0, floodmark.Allow), seen(0)}, 0, floodmark.System, false, 0},
		"its answer":      {[]floodmark.Fact{model(0, floodmark.Allow), seen(0), answer}, 0, floodmark.System, true, 1},
		"a second answer": {[]floodmark.Fact{model(0, floodmark.Allow), seen(0), answer, answer}, 1, floodmark.External, true, 1},
		"only an answer":  {[]floodmark.Fact{seen(0), answer}, 1, floodmark.External, true, 1},
		"hosted tools":    {[]floodmark.Fact{model(0, floodmark.Allow), seen(0), floodmark.ModelAnswered{Hosted: true}}, 1, floodmark.External, true, 0},
		"the next call":   {[]floodmark.Fact{seen(0), answer, model(0, floodmark.Allow)}, 1, floodmark.System, false, 0},
	} {
		s, err := kernel.Replay(append([]floodmark.Fact{floodmark.SessionOpened{}, floodmark.TurnOpened{Turn: 1}}, c.facts...))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Context; got == nil || got.Nodes != c.nodes || got.Mark.Trust != c.trust || got.Answered != c.answered || len(s.Proposed) != c.proposed {
			t.Errorf("%s: %+v, %d proposed", name, got, len(s.Proposed))
		}
		for _, end := range []floodmark.Fact{floodmark.TurnClosed{Turn: 1}, floodmark.ContextCleared{}} {
			again, err := kernel.Replay(append([]floodmark.Fact{floodmark.SessionOpened{}, floodmark.TurnOpened{Turn: 1}}, append(c.facts, end)...))
			if err != nil || again.Context != nil || again.Proposed != nil {
				t.Errorf("%s: %T leaves %+v %v, %v", name, end, again.Context, again.Proposed, err)
			}
		}
	}
}

// A state knows where the owner's words of this turn and of the one before began.
func TestWhereTurnsBegan(t *testing.T) {
	d := newDesk(t, "")
	d.owner("one")
	d.owner("two")
	d.reply("ok", hook.ToOwner)
	d.owner("three")
	if s := d.state; s.Turn != 2 || !s.InTurn || s.TurnBegan != 2 || s.LastTurnBegan != 0 || !reflect.DeepEqual(s.Owner, []string{"one", "two", "three"}) {
		t.Errorf("turn %d, began %d, before %d, %q", s.Turn, s.TurnBegan, s.LastTurnBegan, s.Owner)
	}
	d.reply("ok", hook.ToOwner)
	if d.state.InTurn || d.state.Turn != 2 {
		t.Error("an answer to the owner does not end the turn")
	}
}

// A snapshot keeps what the owner stated.
func TestSnapshotKeepsWhatWasStated(t *testing.T) {
	d := tainted(t, "")
	d.owner("Write bob@example.com a mail.")
	data, err := d.state.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if d.state, err = kernel.Restore(data); err != nil {
		t.Fatal(err)
	}
	if got := decided(t, d.call("mail", `{"to":"bob@example.com"}`)); got.Action.Arguments[0].Whence != floodmark.Stated || got.Trust != floodmark.Owner {
		t.Errorf("after a restart bob is %v", got.Action.Arguments[0])
	}
}

// Facts of asking go to the book.
func TestFactsOfAsking(t *testing.T) {
	d := newDesk(t, "")
	shown := floodmark.Shown{Tool: floodmark.ToolRef{Agent: "a", Name: "x"}}
	d.apply(floodmark.TurnOpened{Turn: 3}, floodmark.TicketOpened{Ticket: "t", Shown: []floodmark.Shown{shown}, Expires: d.at.Add(time.Minute)},
		floodmark.TicketRefused{}, floodmark.GrantGiven{Ticket: "t", Scope: floodmark.GrantTurn, Shown: shown, Turn: 3})
	d.apply(floodmark.GrantUsed{Ticket: "t", Tool: shown.Tool})
	if b := d.state.Book; len(b.Tickets) != 1 || b.Tickets[0].Turn != 3 || b.Tickets[0].Wrong != 1 || len(b.Grants) != 1 || b.Grants[0].Shown.Node != 1 {
		t.Errorf("the book: %+v", d.state.Book)
	}
	d.apply(floodmark.GrantEnded{Ticket: "t", Why: "x"}, floodmark.OpinionGiven{}, floodmark.ChildSpawned{}, floodmark.IncidentSeen{}, floodmark.SessionClosed{})
	if d.state.Book.Grants != nil {
		t.Errorf("an ended grant is in the book: %+v", d.state.Book.Grants)
	}
}
