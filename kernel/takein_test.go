package kernel_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
)

// kinds lists the kinds of the facts that were written down.
func kinds(t testing.TB, facts []floodmark.Fact) string {
	t.Helper()
	var words []string
	for _, f := range facts {
		kind, _, err := factjson.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, kind)
	}
	return strings.Join(words, " ")
}

// The cause of a session's start decides whether its past is trusted.
func TestSessionStart(t *testing.T) {
	for name, c := range map[string]struct {
		open  bool
		ev    hook.Event
		facts string
		mark  string
	}{
		"new":                {false, hook.Event{}, "session-opened rules-loaded", "system/public"},
		"startup":            {false, hook.Event{Cause: hook.Startup}, "session-opened rules-loaded", "system/public"},
		"resumed unknown":    {false, hook.Event{Cause: hook.Resume}, "session-opened rules-loaded content-seen", "untrusted/private"},
		"odd":                {false, hook.Event{Cause: "odd"}, "session-opened rules-loaded content-seen", "untrusted/private"},
		"cleared unknown":    {false, hook.Event{Cause: hook.Clear, ByPerson: true}, "session-opened rules-loaded", "system/public"},
		"clear, unknown":     {false, hook.Event{Cause: hook.Clear}, "session-opened rules-loaded incident-seen content-seen", "untrusted/private"},
		"compacted unknown":  {false, hook.Event{Cause: hook.Compact, Text: "x"}, "session-opened rules-loaded content-seen content-seen", "untrusted/private"},
		"again":              {true, hook.Event{}, "", "untrusted/internal"},
		"resumed":            {true, hook.Event{Cause: hook.Resume}, "", "untrusted/internal"},
		"odd again":          {true, hook.Event{Cause: "odd"}, "content-seen", "untrusted/private"},
		"cleared":            {true, hook.Event{Cause: hook.Clear, ByPerson: true}, "turn-closed context-cleared", "system/public"},
		"clear by a program": {true, hook.Event{Cause: hook.Clear}, "incident-seen", "untrusted/internal"},
		"compacted":          {true, hook.Event{Cause: hook.Compact, Text: "x"}, "content-seen", "untrusted/internal"},
	} {
		d := &desk{t: t, rules: deskRules(t, ""), state: kernel.NewState(), index: postings.NewMemory(), id: "s"}
		if c.open {
			d = tainted(t, "")
		}
		c.ev.Point = hook.SessionStart
		out := d.tell(c.ev)
		if got := kinds(t, out.Facts); got != c.facts || d.state.Mark().String() != c.mark || out.Reply.Decision.Verdict != floodmark.Allow {
			t.Errorf("%s: %s, mark %v; want %s, %s", name, got, d.state.Mark(), c.facts, c.mark)
		}
	}
}

// Every other event opens a session whose past is not trusted.
func TestASessionNobodyAnnounced(t *testing.T) {
	d := &desk{t: t, rules: deskRules(t, ""), state: kernel.NewState(), index: postings.NewMemory(), id: "s"}
	out := d.tell(hook.Event{Point: hook.LoopIterationEnd, Project: "/w", Home: "/h"})
	want := []floodmark.Fact{
		floodmark.SessionOpened{Agent: "a", Project: "/w", Home: "/h"},
		floodmark.ContentSeen{Source: floodmark.Source{
			Kind: floodmark.NodeHistory, Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "before the monitor was told"},
			Label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private},
		}},
		floodmark.RulesLoaded{Policy: d.rules.Policy.Hash(), Catalog: d.rules.Catalog.Hash()},
		floodmark.LoopTold{Point: "loop_iteration_end"},
	}
	if !reflect.DeepEqual(out.Facts, want) {
		t.Errorf("%+v", out.Facts)
	}
	if out := d.tell(hook.Event{Point: hook.LoopIterationEnd}); kinds(t, out.Facts) != "loop-told" {
		t.Errorf("the end of a round: %+v", out.Facts)
	}
	if out := d.tell(hook.Event{Point: hook.SessionEnd}); kinds(t, out.Facts) != "session-closed" {
		t.Errorf("the end: %s", kinds(t, out.Facts))
	}
	d.owner("hello")
	if out := d.tell(hook.Event{Point: hook.SessionEnd}); kinds(t, out.Facts) != "turn-closed session-closed" {
		t.Errorf("the end within a turn: %s", kinds(t, out.Facts))
	}
}

// New rules are written down once, whether the policy or the catalog changed.
func TestRulesAreWrittenDown(t *testing.T) {
	d := newDesk(t, "")
	for name, rules := range map[string]kernel.Rules{
		"policy":  {Policy: deskRules(t, "workspace: [/w]").Policy, Catalog: d.rules.Catalog},
		"catalog": {Policy: d.rules.Policy, Catalog: mustRules(t, "version: 1\n", "").Catalog},
	} {
		out, err := kernel.Step(d.state, rules, d.input(hook.Event{Point: hook.LoopIterationEnd}))
		if err != nil || kinds(t, out.Facts) != "rules-loaded loop-told" {
			t.Errorf("another %s: %s, %v", name, kinds(t, out.Facts), err)
		}
	}
}

// A message too long to have been typed was pasted, unless the adapter knows better.
func TestPasted(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		typed  bool
		pasted bool
	}{
		"400 letters":       {strings.Repeat("é", 400), false, false},
		"401 letters":       {strings.Repeat("é", 401), false, true},
		"401, seen typed":   {strings.Repeat("x", 401), true, false},
		"five lines":        {"1\n2\n3\n4\n5", false, false},
		"six lines":         {"1\n2\n3\n4\n5\n6", false, true},
		"six, seen typed":   {"1\n2\n3\n4\n5\n6", true, false},
		"nothing":           {"", false, false},
		"a line that stops": {"1\n2\n3\n4\n5\n", false, true},
	} {
		d := newDesk(t, "")
		out := d.tell(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: c.text, Typed: c.typed})
		seen := kept[floodmark.ContentSeen](out)
		if len(seen) != 1 {
			t.Fatalf("%s: %+v", name, out.Facts)
		}
		want := floodmark.ContentSeen{Source: floodmark.Source{Kind: floodmark.NodeInput, Origin: olga(), Label: floodmark.Label{Trust: floodmark.Owner, Secrecy: floodmark.Internal}}, Text: c.text}
		if c.text != "" {
			want.Digest = floodmark.DigestOf(c.text)
		}
		if c.pasted {
			want.Text, want.Origin.Kind, want.Label = "", floodmark.FromPaste, floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
		}
		if !reflect.DeepEqual(seen[0], want) {
			t.Errorf("%s: %+v", name, seen[0].Source)
		}
		if indexed := len(out.Indexed) > 0; indexed != c.pasted {
			t.Errorf("%s: indexed = %v", name, indexed)
		}
	}
}

// Whose words are commands, and whose are only content.
func TestWhoMayCommand(t *testing.T) {
	system := floodmark.Origin{Kind: floodmark.FromSystem, Name: "cron"}
	for name, c := range map[string]struct {
		origin   floodmark.Origin
		branch   bool
		text     string
		consumed bool
		stated   bool
	}{
		"owner":           {olga(), false, ".status", true, false},
		"written wrongly": {olga(), false, ".status now", true, false},
		"ordinary":        {olga(), false, "hello", false, true},
		"in a branch":     {olga(), true, ".status", false, false},
		"words to branch": {olga(), true, "hello", false, false},
		"quoted":          {floodmark.Origin{Kind: floodmark.FromQuote, IsOwner: true}, false, ".status", false, false},
		"system":          {system, false, ".status", false, false},
		"stranger":        {floodmark.Origin{Kind: floodmark.FromSender, Sender: "eve"}, false, ".status", false, false},
	} {
		d := newDesk(t, "")
		if c.branch {
			d.state = kernel.NewState()
			d.apply(floodmark.SessionForked{Agent: "a", Parent: "p"})
		}
		out := d.tell(hook.Event{Point: hook.MessageReceived, Origin: c.origin, Text: c.text})
		if out.Reply.Consumed != c.consumed || c.consumed != (out.Reply.Notice != "") {
			t.Errorf("%s: consumed = %v, notice %q", name, out.Reply.Consumed, out.Reply.Notice)
		}
		if stated := len(d.state.Owner) > 0; stated != c.stated {
			t.Errorf("%s: stated = %v", name, stated)
		}
		if c.consumed == d.state.InTurn {
			t.Errorf("%s: a turn is open: %v", name, d.state.InTurn)
		}
	}
}

// Announced content can only lower its own trust by what it says of itself, and what was made from
// all of the context carries all of it.
func TestContent(t *testing.T) {
	local := floodmark.Origin{Kind: floodmark.FromTool, Name: "look"}
	for name, c := range map[string]struct {
		content hook.Content
		label   string
		whole   bool
		mark    string
	}{
		"tool":           {hook.Content{Kind: floodmark.NodeToolResult, Origin: local, Text: "x"}, "local/internal", false, "untrusted/internal"},
		"lowered":        {hook.Content{Kind: floodmark.NodeToolResult, Origin: local, Text: "x", Trust: "external"}, "external/internal", false, "untrusted/internal"},
		"not raised":     {hook.Content{Kind: floodmark.NodeToolResult, Origin: local, Text: "x", Trust: "system"}, "local/internal", false, "untrusted/internal"},
		"nonsense":       {hook.Content{Kind: floodmark.NodeToolResult, Origin: local, Text: "x", Trust: "fine"}, "untrusted/internal", false, "untrusted/internal"},
		"unknown tool":   {hook.Content{Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "odd"}, Text: "x"}, "untrusted/secret", false, "untrusted/secret"},
		"model":          {hook.Content{Origin: floodmark.Origin{Kind: floodmark.FromModel}, Text: "x", Trust: "untrusted"}, "untrusted/public", true, "untrusted/internal"},
		"summary":        {hook.Content{Kind: floodmark.NodeHistory, Origin: floodmark.Origin{Kind: floodmark.FromHistory}, Text: "x"}, "system/public", true, "untrusted/internal"},
		"group":          {hook.Content{Kind: floodmark.NodeHistory, Origin: floodmark.Origin{Kind: floodmark.FromHistory, Group: "g"}, Text: "x"}, "external/internal", false, "untrusted/internal"},
		"without a text": {hook.Content{Origin: local}, "local/internal", false, "untrusted/internal"},
	} {
		for _, point := range []hook.Point{hook.ContextAssembled, hook.MessageReceived, hook.AfterLLMCall} {
			d := tainted(t, "")
			ev := hook.Event{Point: point, Sources: []hook.Content{c.content}}
			if point == hook.MessageReceived {
				ev.Origin, ev.Text, ev.Parts, ev.Sources = olga(), "hello", ev.Sources, nil
			}
			seen := kept[floodmark.ContentSeen](d.tell(ev))
			got := seen[len(seen)-1]
			if got.Label.String() != c.label || got.Whole != c.whole || d.state.Mark().String() != c.mark {
				t.Errorf("%s at %s: %v, whole %v, mark %v; want %s, %s", name, point, got.Label, got.Whole, d.state.Mark(), c.label, c.mark)
			}
			if c.content.Kind == "" && got.Kind != floodmark.NodeInput || c.content.Kind != "" && got.Kind != c.content.Kind {
				t.Errorf("%s at %s: kind %s", name, point, got.Kind)
			}
		}
	}
}

// A summary of a conversation is as trusted as the conversation, once there was one.
func TestSummariesByTurn(t *testing.T) {
	for turn, want := range map[int]string{1: "untrusted/private", 2: "system/public", 3: "system/public"} {
		d := newDesk(t, "")
		for i := range turn {
			if i > 0 { // ends the turn, and decides nothing
				d.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Clear, ByPerson: true})
			}
			d.owner(fmt.Sprint("hello ", i))
		}
		out := d.tell(hook.Event{Point: hook.ContextAssembled, Sources: []hook.Content{{Origin: floodmark.Origin{Kind: floodmark.FromModel}, Text: "so far"}}})
		if seen := kept[floodmark.ContentSeen](out); len(seen) != 1 || seen[0].Label.String() != want || !seen[0].Whole {
			t.Errorf("turn %d: %+v", turn, seen)
		}
	}
}

// Content that is known is not taken in twice, in one event or in two.
func TestKnownContent(t *testing.T) {
	d := newDesk(t, "")
	c := hook.Content{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "x"}, Text: "text"}
	other := c
	other.Text = "other"
	if got := kept[floodmark.ContentSeen](d.tell(hook.Event{Point: hook.ContextAssembled, Sources: []hook.Content{c, c, other}})); len(got) != 2 {
		t.Errorf("in one event: %d contents, want 2", len(got))
	}
	if got := kept[floodmark.ContentSeen](d.tell(hook.Event{Point: hook.ContextAssembled, Sources: []hook.Content{c}})); len(got) != 0 {
		t.Errorf("again: %d contents", len(got))
	}
	empty := hook.Content{Kind: floodmark.NodeInput, Origin: c.Origin}
	if got := kept[floodmark.ContentSeen](d.tell(hook.Event{Point: hook.ContextAssembled, Sources: []hook.Content{empty, empty}})); len(got) != 2 {
		t.Errorf("what cannot be recognised: %d contents, want 2", len(got))
	}
	d.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Clear, ByPerson: true})
	if got := kept[floodmark.ContentSeen](d.tell(hook.Event{Point: hook.ContextAssembled, Sources: []hook.Content{c}})); len(got) != 1 {
		t.Errorf("after a cleared context: %d contents, want 1", len(got))
	}
}

// A group's history is a source, once for each group, unless the adapter says what is in it.
func TestGroupHistory(t *testing.T) {
	in := func(group string, parts ...hook.Content) hook.Event {
		o := floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "olga", IsOwner: true, Group: group}
		return hook.Event{Point: hook.MessageReceived, Origin: o, Text: "hi " + group, Parts: parts}
	}
	history := hook.Content{Kind: floodmark.NodeHistory, Origin: floodmark.Origin{Kind: floodmark.FromHistory, Group: "g"}, Text: "old"}
	quote := hook.Content{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromQuote}, Text: "q"}
	d := newDesk(t, "")
	for i, c := range []struct {
		ev   hook.Event
		want int // sources: the message, its parts, and perhaps the history
	}{
		{in(""), 1},
		{in("g", history), 2},
		{in("g"), 2},
		{in("g"), 1},
		{in("h", quote), 3},
		{in("h"), 1},
		{in("g"), 1},
	} {
		got := kept[floodmark.ContentSeen](d.tell(c.ev))
		if len(got) != c.want {
			t.Errorf("message %d: %d sources, want %d", i, len(got), c.want)
		}
	}
	d.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Clear, ByPerson: true})
	got := kept[floodmark.ContentSeen](d.tell(in("g")))
	want := floodmark.Origin{Kind: floodmark.FromHistory, Name: "chat", Group: "g"}
	if len(got) != 2 || got[0].Origin != want || got[0].Kind != floodmark.NodeHistory {
		t.Errorf("after a cleared context: %+v", got)
	}
}

// With an error there is no answer, and no answer restricts.
func TestStepRefuses(t *testing.T) {
	d := newDesk(t, "")
	for want, ev := range map[string]hook.Event{
		`unknown hook point "lunch"`:                    {Point: "lunch"},
		"subagent_spawned: a sub-agent needs a session": {Point: hook.SubagentSpawned},
		"subagent_ended: a sub-agent needs a session":   {Point: hook.SubagentEnded},
	} {
		out, err := kernel.Step(d.state, d.rules, d.input(ev))
		if err == nil || err.Error() != want || !reflect.DeepEqual(out, kernel.Output{}) {
			t.Errorf("%s: %v, %+v; want %s", ev.Point, err, out, want)
		}
	}
}
