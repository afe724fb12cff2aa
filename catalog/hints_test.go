package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// allHints returns every combination of claims a server can make.
func allHints() []*hook.Hints {
	yes, no := true, false
	flags := []*bool{nil, &yes, &no}
	var out []*hook.Hints
	for _, r := range flags {
		for _, d := range flags {
			for _, o := range flags {
				for _, trust := range append(trustWords(), "", "believe-me") {
					for _, secrecy := range append(secrecyWords(), "", "anyone") {
						out = append(out, &hook.Hints{ReadOnly: r, Destructive: d, OpenWorld: o, Trust: trust, Secrecy: secrecy})
					}
				}
			}
		}
	}
	return out
}

// tighter returns what is looser in b than in a, or "".
func tighter(a, b Use) string {
	switch {
	case !b.Returns.AtLeastAsSafe(a.Returns):
		return fmt.Sprintf("label rose from %v to %v", a.Returns, b.Returns)
	case slices.Min(b.Effects) > slices.Min(a.Effects):
		return fmt.Sprintf("effects went from %v to %v", a.Effects, b.Effects)
	case slices.ContainsFunc(a.Effects, func(e floodmark.Effect) bool { return !slices.Contains(b.Effects, e) }):
		return fmt.Sprintf("an effect of %v is missing in %v", a.Effects, b.Effects)
	case a.Network && !b.Network, a.SelfProtected && !b.SelfProtected, b.Own && !a.Own, b.PathKind < a.PathKind:
		return fmt.Sprintf("%+v became %+v", a, b)
	}
	return ""
}

func TestHintsOnlyTighten(t *testing.T) {
	c := shipped(t)
	refs := []floodmark.ToolRef{offered("nobody", "anything")}
	for _, l := range c.layers {
		for _, p := range l.profiles {
			for _, k := range p.keys(p.tools[0])[:1] {
				refs = append(refs, refOf(k))
			}
		}
	}
	hints := allHints()
	rng := rand.New(rand.NewPCG(1, 2))
	values := []string{"", "read", "list", "/tmp/x", "AGENTS.md", "~/.ssh/id_rsa", ".claude/settings.json", "ls", "rm -rf x", "https://example.com"}
	for _, ref := range refs {
		p, _ := c.Lookup(ref)
		for range 20 {
			var leaves []hook.Leaf
			if p != nil {
				for _, name := range p.ArgNames() {
					if rng.IntN(3) == 0 {
						leaves = append(leaves, args(name, values[rng.IntN(len(values))])...)
					}
				}
			}
			base := c.Classify(ref, leaves, nil, here())
			for range 20 {
				h := hints[rng.IntN(len(hints))]
				if why := tighter(base, c.Classify(ref, leaves, h, here())); why != "" {
					t.Fatalf("%v with %+v and %v: %s", ref, *h, leaves, why)
				}
			}
		}
	}
}

func refOf(k key) floodmark.ToolRef {
	if k.server {
		return offered(k.owner, k.tool)
	}
	return builtin(k.owner, k.tool)
}

func TestHintsThatTighten(t *testing.T) {
	c := shipped(t)
	yes, no := true, false
	tool := offered("time", "get_current_time")
	for _, tc := range []struct {
		name  string
		hints hook.Hints
		want  []floodmark.Effect
		label floodmark.Label
	}{
		{"nothing claimed", hook.Hints{}, effects(observe), floodmark.Clean()},
		{"harmless claims change nothing", hook.Hints{ReadOnly: &yes, Destructive: &no, OpenWorld: &no, Trust: "system", Secrecy: "public"}, effects(observe), floodmark.Clean()},
		{"not read-only", hook.Hints{ReadOnly: &no}, effects(observe, change), floodmark.Clean()},
		{"not read-only, not destructive", hook.Hints{ReadOnly: &no, Destructive: &no}, effects(observe, write), floodmark.Clean()},
		{"destructive", hook.Hints{Destructive: &yes}, effects(observe, change), floodmark.Clean()},
		{"open world", hook.Hints{OpenWorld: &yes}, effects(observe, fetch), floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public}},
		{"untrusted", hook.Hints{Trust: "untrusted"}, effects(observe), floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}},
		{"a word nobody knows", hook.Hints{Trust: "high", Secrecy: "low"}, effects(observe), floodmark.Label{}},
	} {
		u := c.Classify(tool, nil, &tc.hints, here())
		if !sameEffects(u.Effects, tc.want) || u.Returns != tc.label {
			t.Errorf("%s: %v %v, want %v %v", tc.name, u.Effects, u.Returns, tc.want, tc.label)
		}
	}
	// A read that claims to write is judged as a write, instructing files included.
	u := c.Classify(offered("filesystem", "read_file"), args("path", "AGENTS.md"), &hook.Hints{ReadOnly: &no}, here())
	if !slices.Contains(u.Effects, admin) || !u.Instructs {
		t.Errorf("%+v", u)
	}
	u = c.Classify(offered("filesystem", "read_file"), args("path", ".claude/settings.json"), &hook.Hints{ReadOnly: &no}, here())
	if !u.SelfProtected {
		t.Errorf("%+v", u)
	}
}
