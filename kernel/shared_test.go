package kernel_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/policy"
)

// boxTools are the tools of a server whose results are never said to come from strangers.
const boxTools = `
server: box
about: a server of tools that sessions share
tools:
  - {tool: [peek, other], about: looks, effect: observe, returns: {trust: local, secrecy: public}, args: {q: {role: content, is: text}}}
  - {tool: put, about: writes, effect: write, returns: {trust: local, secrecy: public}, args: {q: {role: content, is: text}}}
  - {tool: ask, about: asks elsewhere, effect: fetch, remote: true, own: true, returns: {trust: local, secrecy: public}, args: {q: {role: content, is: text}}}
`

const pageTools = `
agent: claude-code
about: what strangers and the owner wrote
tools:
  - {tool: page, about: reads a page, effect: fetch, returns: {trust: untrusted, secrecy: public}, args: {q: {role: content, is: text}}}
  - {tool: diary, about: reads the diary, effect: observe, returns: {trust: local, secrecy: private}, args: {q: {role: content, is: text}}}
`

// boxRules reads the rules once, because that takes long.
var boxRules = sync.OnceValues(func() (kernel.Rules, error) {
	var files []*catalog.File
	for i, text := range []string{boxTools, pageTools} {
		f, err := catalog.Parse(fmt.Sprint(i), []byte(text))
		if err != nil {
			return kernel.Rules{}, err
		}
		files = append(files, f)
	}
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\nprofile: dry-run\n")})
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	return kernel.NewRules(p, catalog.New(files, nil)), nil
})

func newBox(t testing.TB, seed uint64) *village {
	t.Helper()
	rules, err := boxRules()
	if err != nil {
		t.Fatal(err)
	}
	v := newVillage(rules, seed)
	for _, s := range v.sessions {
		v.must(t, s, hook.Event{Point: hook.SessionStart})
	}
	return v
}

func (v *village) must(t testing.TB, s *villager, ev hook.Event) kernel.Output {
	t.Helper()
	out, err := kernel.Step(s.state, v.rules, v.input(s, ev))
	if err == nil {
		err = v.take(s, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// use makes a call, at the shared server if shared names it, and returns the label of the result.
func (v *village) use(t testing.TB, s *villager, server, tool, shared string) floodmark.Label {
	t.Helper()
	v.n++
	call := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", v.n)), Server: server, Name: tool, Args: []byte(`{"q":"x"}`)}
	v.must(t, s, hook.Event{Point: hook.BeforeToolCall, Call: call, Shared: shared, Gateway: shared != ""})
	out := v.must(t, s, hook.Event{
		Point: hook.AfterToolCall, Call: call, Shared: shared, Gateway: shared != "",
		Result: hook.Result{Text: fmt.Sprint("a result of its own ", v.n)},
	})
	if out.Reply.Label == nil {
		return s.state.Mark()
	}
	return *out.Reply.Label
}

// Whatever sessions do in any order, the result of a shared server has no better label than the
// mark of any session that wrote to it before, no other session is affected, and the facts alone
// say so.
func TestSharedServerLaw(t *testing.T) {
	for seed := range uint64(60) {
		v := newBox(t, seed)
		join := floodmark.Clean()
		for step := range 60 {
			s := v.sessions[v.rng.IntN(len(v.sessions))]
			before := s.state.Mark()
			switch v.rng.IntN(8) {
			case 0:
				if v.rng.IntN(4) == 0 {
					v.use(t, s, "", "page", "")
				}
			case 1:
				if v.rng.IntN(4) == 0 {
					v.use(t, s, "", "diary", "")
				}
			case 2, 3:
				join = join.Join(before)
				held(t, seed, step, s, v.use(t, s, "box", []string{"put", "ask", "unknown"}[v.rng.IntN(3)], "box"), join)
			case 4:
				join = join.Join(before)
				v.must(t, s, hook.Event{Point: hook.ContextAssembled, Shared: "box", Given: true})
			case 5:
				list := []hook.Content{{Kind: floodmark.NodeToolResult, Origin: floodmark.Origin{Kind: floodmark.FromTool, Server: "box", Name: "peek"}, Text: "heard before"}}
				v.must(t, s, hook.Event{Point: hook.ContextAssembled, Shared: "box", Sources: list})
				held(t, seed, step, s, s.state.Mark(), join)
			case 6:
				held(t, seed, step, s, v.use(t, s, "box", "peek", "box"), join)
			case 7: // not a server that others use
				label := v.use(t, s, "box", "other", "")
				if want := before.Join(floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}); label != want {
					t.Fatalf("seed %d, step %d: alone it is %s, want %s", seed, step, label, want)
				}
			}
			again, err := kernel.Replay(s.facts)
			if err != nil || !reflect.DeepEqual(again, s.state) {
				t.Fatalf("seed %d, step %d: replay differs: %v", seed, step, err)
			}
			if n := len(v.store[floodmark.ArtifactRef{Kind: floodmark.ServerArtifact, Name: "box"}]); n > len(v.sessions) {
				t.Fatalf("%d words on one server", n)
			}
		}
	}
}

func held(t testing.TB, seed uint64, step int, s *villager, label, join floodmark.Label) {
	t.Helper()
	if !label.AtLeastAsSafe(join) || !s.state.Mark().AtLeastAsSafe(join) {
		t.Fatalf("seed %d, step %d: %s got %s at mark %s from a server that carries %s", seed, step, s.id, label, s.state.Mark(), join)
	}
}

// What is written between a call and its result lowers the result, also of a call without
// arguments.
func TestASharedServerIsWrittenToMeanwhile(t *testing.T) {
	v := newBox(t, 1)
	a, b := v.sessions[0], v.sessions[1]
	v.use(t, a, "", "page", "")
	call := hook.Call{ID: "late", Server: "box", Name: "peek"}
	v.must(t, b, hook.Event{Point: hook.BeforeToolCall, Call: call, Shared: "box", Gateway: true})
	v.use(t, a, "box", "put", "box")
	out := v.must(t, b, hook.Event{Point: hook.AfterToolCall, Call: call, Shared: "box", Gateway: true, Result: hook.Result{Text: "what a wrote"}})
	if out.Reply.Label == nil || out.Reply.Label.Trust != floodmark.Untrusted || b.state.Mark().Trust != floodmark.Untrusted {
		t.Errorf("%v at %s", out.Reply.Label, b.state.Mark())
	}
}

// A call that the agent's hook told of is a call to the shared server as well. It writes there, and
// its result, which only the hook tells, has the joined label.
func TestAHooksCallToASharedServer(t *testing.T) {
	v := newBox(t, 1)
	a, b, c := v.sessions[0], v.sessions[1], v.sessions[2]
	both := func(s *villager, tool, id string) {
		call := hook.Call{ID: floodmark.CallID("h" + id), Server: "box", Name: tool, Args: []byte(`{"q":"x"}`)}
		v.must(t, s, hook.Event{Point: hook.BeforeToolCall, Call: call})
		met := call
		met.ID = floodmark.CallID("g" + id)
		out := v.must(t, s, hook.Event{Point: hook.BeforeToolCall, Call: met, Shared: "box", Gateway: true})
		if len(kept[floodmark.CallFollowed](out)) != 1 {
			t.Fatalf("it was not met: %v", out.Facts)
		}
		if s.state.Mark().Trust != floodmark.Untrusted {
			t.Errorf("%s: met, it is at %s", s.id, s.state.Mark())
		}
		v.must(t, s, hook.Event{Point: hook.AfterToolCall, Call: met, Shared: "box", Gateway: true, Result: hook.Result{Text: "r" + id}})
		out = v.must(t, s, hook.Event{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: "r" + id}})
		if got := kept[floodmark.ContentArrived](out); len(got) != 1 || s != a && got[0].Label.Trust != floodmark.Untrusted {
			t.Errorf("%s: the result is %+v", s.id, got)
		}
	}
	v.use(t, a, "", "page", "")
	both(a, "put", "1")
	both(b, "peek", "2")
	if l := v.use(t, c, "box", "peek", "box"); l.Trust != floodmark.Untrusted {
		t.Errorf("without a hook it is %s", l)
	}
}

// If the owner vouches for what a shared server was given, this clears it for every session, and
// nothing that is written later. They can take that back.
func TestTheOwnerVouchesForASharedServer(t *testing.T) {
	v := newBox(t, 1)
	a, b, c, d := v.sessions[0], v.sessions[1], v.sessions[2], v.sessions[3]
	v.use(t, a, "", "page", "")
	v.use(t, a, "box", "put", "box")
	v.use(t, b, "box", "peek", "box")
	var digest floodmark.Digest
	for src := range b.state.Ledger.Sources() {
		if src.Origin.Server == "box" && src.Origin.Kind == floodmark.FromHistory {
			digest = src.Digest
		}
	}
	say := func(verb approval.Verb) {
		t.Helper()
		out, err := kernel.Answer(b.state, v.rules, v.input(b, hook.Event{}), approval.Command{Verb: verb, Digest: digest.String(), By: "owner"})
		if err == nil {
			err = v.take(b, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say(approval.Endorse)
	if l := v.use(t, c, "box", "peek", "box"); l.Trust != floodmark.Local || b.state.Mark().Trust != floodmark.Local {
		t.Errorf("vouched for, it is %s, and who asked before is at %s", l, b.state.Mark())
	}
	say(approval.Withdraw)
	if l := v.use(t, c, "box", "peek", "box"); l.Trust != floodmark.Untrusted {
		t.Errorf("taken back, it is %s", l)
	}
	say(approval.Endorse)
	v.use(t, a, "box", "put", "box")
	if l := v.use(t, d, "box", "peek", "box"); l.Trust != floodmark.Untrusted {
		t.Errorf("written to again, it is %s", l)
	}
}

// However often the owner vouches and strangers' text is written again, a server carries a bounded
// number of sources, and text written after the owner vouched still lowers its results.
func TestASharedServerCarriesFewSources(t *testing.T) {
	v := newBox(t, 1)
	a := v.sessions[0]
	v.use(t, a, "", "page", "")
	ref := floodmark.ArtifactRef{Kind: floodmark.ServerArtifact, Name: "box"}
	for range 40 {
		v.at = v.at.Add(1)
		v.use(t, a, "box", "put", "box")
		list := v.store[ref][a.id].Sources
		if len(list) == 0 || len(list) > 16 {
			t.Fatalf("%d sources", len(list))
		}
		for _, src := range list {
			vouch := floodmark.ArtifactRef{Kind: floodmark.VouchArtifact, Name: src.Digest.String()}
			v.store[vouch] = map[floodmark.SessionID]artifact.Kept{"o": {Artifact: floodmark.Artifact{Ref: vouch, Vouch: &floodmark.Vouch{Trust: floodmark.Local, At: 1}}}}
		}
	}
	v.use(t, a, "box", "put", "box")
	if l := v.use(t, v.sessions[1], "box", "peek", "box"); l.Trust != floodmark.Untrusted {
		t.Errorf("it is %s", l)
	}
}
