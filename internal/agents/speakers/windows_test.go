package speakers

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/monitor"
)

// A client that the system does not know, or that is elsewhere, is not asked.
func TestAClientThatNobodyKnows(t *testing.T) {
	w := newGrove(t)
	w.f.Plant(50, 5, 500, "floodmark")
	open := newWindows([]string{"cursor"}, w.g, nil)
	unknown := hook.Event{Session: "mcp-1", Gateway: true, Point: hook.BeforeToolCall}
	if got := open.client(Speaker{Local: true}, unknown, hook.Window{}); got != "" {
		t.Errorf("nobody the system knows: %q", got)
	}
	far := w.tracedAs(50)
	far.Local = false
	if got := open.client(far, unknown, hook.Window{}); got != "" {
		t.Errorf("over the network: %q", got)
	}
}

// What a window may never answer is not asked there.
func TestWhatAWindowMayNotAnswer(t *testing.T) {
	plain := approval.Question{Action: floodmark.Action{
		Tool: floodmark.ToolRef{Server: "shop", Name: "order"}, Effects: []floodmark.Effect{floodmark.Run},
		Arguments: []floodmark.Argument{{Path: "item", Shown: "book", Role: floodmark.Critical}},
	}}
	with := func(change func(*approval.Question)) monitor.Pending {
		q := plain
		change(&q)
		return monitor.Pending{Calls: 1, Questions: []approval.Question{q}}
	}
	asked := floodmark.Decision{Verdict: floodmark.Confirm}
	if text, ok := forWindow(with(func(*approval.Question) {}), asked); !ok || !strings.Contains(text, "order") {
		t.Errorf("a plain one: %q %v", text, ok)
	}
	for name, p := range map[string]monitor.Pending{
		"two people":     with(func(q *approval.Question) { q.Two = true }),
		"admin":          with(func(q *approval.Question) { q.Action.Effects = []floodmark.Effect{floodmark.Send, floodmark.Admin} }),
		"nobody knows":   with(func(q *approval.Question) { q.Action.Effects = nil }),
		"content":        with(func(q *approval.Question) { q.Vouch = approval.Origin{Name: "a page"} }),
		"a pick unsaid":  with(func(q *approval.Question) { q.Pick = &approval.Pick{Argument: "item"} }),
		"hidden values":  with(func(q *approval.Question) { q.Action.Arguments = slices.Repeat(distinctArguments(), 3) }),
		"too long":       with(func(q *approval.Question) { q.Beware = []string{strings.Repeat("x", maxWindowText)} }),
		"two calls":      {Calls: 2, Questions: []approval.Question{plain}},
		"two questions":  {Calls: 1, Questions: []approval.Question{plain, plain}},
		"nothing at all": {},
	} {
		if text, ok := forWindow(p, asked); ok {
			t.Errorf("%s: %q", name, text)
		}
	}
	asked.Reasons = []floodmark.Reason{{Code: floodmark.SelfProtection}}
	if _, ok := forWindow(with(func(*approval.Question) {}), asked); ok {
		t.Error("what guards the monitor")
	}
}

func distinctArguments() []floodmark.Argument {
	var list []floodmark.Argument
	for _, name := range []string{"to", "cc", "bcc", "url", "path", "host", "branch", "table"} {
		list = append(list, floodmark.Argument{Path: name, Shown: "v-" + name, Role: floodmark.Critical, Whence: floodmark.Seen})
	}
	return list
}
