package askedcall_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ask/askedcall"
	"github.com/floodmark/floodmark/wire"
)

// A source is trusted beside a question only if it alone led to it, the reason names it, and it came
// from a group or another agent.
func TestWhatMayBeTrustedBesideAQuestion(t *testing.T) {
	const told = "9c1185a5c5e9fc54612808977ee8f548b2258d31"
	from := func(trust, digest string) *wire.Source {
		return &wire.Source{Digest: digest, Label: &wire.Label{Trust: trust}, Origin: &wire.Origin{Kind: "sender", Name: "slack", Sender: "bob", Group: "general"}}
	}
	for name, c := range map[string]struct {
		trust   string
		sources []*wire.Source
		why     string
		want    string
	}{
		"a message of a group":       {"shared", []*wire.Source{from("shared", told)}, "", told},
		"the same message twice":     {"shared", []*wire.Source{from("shared", told), from("shared", told)}, "", told},
		"people outside":             {"external", []*wire.Source{from("external", told)}, "", ""},
		"a stranger":                 {"untrusted", []*wire.Source{from("untrusted", told)}, "", ""},
		"a stranger beside it":       {"untrusted", []*wire.Source{from("shared", told), from("untrusted", "ab")}, "", ""},
		"another message":            {"shared", []*wire.Source{from("shared", told), from("shared", "ab")}, "", ""},
		"the list may be cut":        {"shared", []*wire.Source{from("shared", told), from("shared", told), from("shared", told)}, "", ""},
		"a reason that names no one": {"shared", []*wire.Source{from("shared", told)}, "Your rules ask about this.", ""},
		"no source":                  {"shared", nil, "", ""},
		"no digest":                  {"shared", []*wire.Source{from("shared", "")}, "", ""},
	} {
		why := c.why
		if why == "" {
			why = "It had read “message from bob” (shared with others)."
		}
		call := &wire.AskedCall{Mark: &wire.Label{Trust: c.trust}, Sources: c.sources, Why: why}
		if got := askedcall.Trustable(call).GetDigest(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The lines of a push that a person reviews are on the wire apart, and only if there was a review.
func TestThePushIsApart(t *testing.T) {
	body := []string{"file «main.py» (+1 -1)", "  +     if x: ", "  - y"}
	q := approval.Question{
		Action: floodmark.Action{Tool: floodmark.ToolRef{Agent: "pi", Name: "bash"}, Effects: []floodmark.Effect{floodmark.Send}},
		Push:   &hook.Push{Digest: floodmark.DigestOf("x"), Head: []string{"Sends 1 commit"}, Body: body},
	}
	call := &wire.AskedCall{}
	askedcall.Fill(call, q, nil)
	if !slices.Equal(call.GetDiff(), body) || !strings.Contains(strings.Join(call.GetCard(), "\n"), strings.Join(body, "\n")) {
		t.Errorf("diff %q, card %q", call.GetDiff(), call.GetCard())
	}
	call, q.Push = &wire.AskedCall{}, &hook.Push{Unseen: "no git", Body: body}
	if askedcall.Fill(call, q, nil); len(call.GetDiff()) > 0 {
		t.Errorf("nothing was reviewed: %q", call.GetDiff())
	}
}
