package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
)

// recorded lives a random session and returns its facts with their times.
func recorded(h *history) ([]replay.Recorded, error) {
	var list []replay.Recorded
	for range eventsPerHistory {
		h.n++
		h.at = h.at.Add(time.Duration(h.rng.IntN(40)) * time.Second)
		if err := h.one(); err != nil {
			return nil, fmt.Errorf("event %d: %w", h.n, err)
		}
		for _, f := range h.facts[len(list):] {
			list = append(list, replay.Recorded{At: h.at, Fact: f})
		}
	}
	return list, nil
}

// Any session judged again by the same rules has the same decisions, with the same reasons, and as
// many questions.
func TestAnyHistoryIsJudgedAgainTheSame(t *testing.T) {
	n := max(*histories, 200)
	for name, text := range map[string]string{"assistant": lawPolicy, "values": valuePolicy, "watched": "version: 1\nprofile: dry-run\n", "strict": "version: 1\nprofile: strict\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := mustRules(t, text, "")
			decisions := 0
			for seed := range n / 4 {
				h := newHistory(rules, uint64(seed))
				h.stricter = rules
				facts, err := recorded(h)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				decisions += sameAgain(t, replay.Retrial{Now: rules}, facts, fmt.Sprint("seed ", seed))
			}
			if decisions < n {
				t.Errorf("only %d decisions were made", decisions)
			}
		})
	}
}

// A session with boxes, gates, pauses, a disk and sub-agents gets the same answers again, though not
// all their reasons. What an adapter refuses of a push is not kept, nor is it that a session kept
// changing while gates were asked.
func TestAnyHistoryInAWorldIsAnsweredAgainTheSame(t *testing.T) {
	t.Parallel()
	kinds := lawKinds(t)
	unkept := func(r floodmark.Reason) bool {
		return r.Code == floodmark.PushShown || r.Code == floodmark.Verified && strings.Contains(r.Text, "kept changing")
	}
	again, skipped := 0, 0
	n := max(*histories/8, 48)
	for seed := range n + 1 {
		if seed == n {
			seed = 349 // an auditor's opinion, and the same call once more in a pause
		}
		kind := kinds[seed%len(kinds)]
		h := newHistory(kind.rules, uint64(seed))
		h.stricter, h.agent, h.world = kind.stricter, kind.agent, newWorld(uint64(seed))
		facts, err := recorded(h)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := replay.Retrial{Now: kind.rules}.Session(facts, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, d := range got.Decisions {
			if slices.ContainsFunc(d.Was.Reasons, unkept) {
				skipped++
				continue
			}
			if again++; d.Outcome != replay.Unchanged {
				t.Fatalf("seed %d: fact %d: %s %s\n%+v\n%+v", seed, d.Index, d.Outcome, d.Difference(), facts[d.Index], d.Would)
			}
		}
	}
	if again < 1000 || skipped*50 > again {
		t.Errorf("%d decisions are the same, %d were not looked at", again, skipped)
	}
}

// The same under a catalog that differs only in a tool that is never called: an answer is the same,
// or it cannot be told.
func TestAnyHistoryInAWorldIsAnsweredTheSameByAnotherCatalog(t *testing.T) {
	t.Parallel()
	const never = "tools:\n  - {agent: other, tool: never, effect: observe, returns: {trust: local, secrecy: public}, args: {q: {role: content, is: text}}}\n"
	rules, now := mustRules(t, lawCoding, ""), mustRules(t, lawCoding+never, "")
	same, untold := 0, 0
	for seed := range max(*histories/16, 32) {
		h := newHistory(rules, uint64(seed))
		h.stricter, h.agent, h.world = rules, "claude-code", newWorld(uint64(seed))
		facts, err := recorded(h)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := replay.Retrial{Now: now}.Session(facts, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, d := range got.Decisions {
			switch pushed := func(r floodmark.Reason) bool { return r.Code == floodmark.PushShown }; {
			case d.Outcome == replay.Untold, slices.ContainsFunc(d.Was.Reasons, pushed):
				untold++
			case d.Outcome == replay.Unchanged:
				same++
			default:
				t.Fatalf("seed %d: fact %d: %s\n%+v\n%+v", seed, d.Index, d.Difference(), facts[d.Index], d.Would)
			}
		}
	}
	if same < 500 || untold*5 > same {
		t.Errorf("%d decisions are the same, %d cannot be told", same, untold)
	}
}

// valuePolicy has rules that look at values, also at those that are not kept.
const valuePolicy = `
version: 1
rules:
  - name: no-links
    when: 'has(call.args.body) && call.args.body.contains("example.net")'
    action: {verdict: restrict}
  - name: sources
    when: 'sources.exists(s, s.trust <= external) && call.tool == "message"'
    action: {verdict: confirm}
  - name: any
    when: 'call.args.exists(k, k == "url") && mark.trust <= shared'
    action: {verdict: confirm}
`

// sameAgain judges facts again and fails unless everything is as it was.
func sameAgain(t *testing.T, r replay.Retrial, facts []replay.Recorded, name string) int {
	t.Helper()
	got, err := r.Session(facts, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	at := 0
	for i, f := range facts {
		d, ok := f.Fact.(floodmark.ActionDecided)
		if !ok {
			continue
		}
		again := got.Decisions[at]
		at++
		if again.Index != i || again.Outcome != replay.Unchanged {
			t.Fatalf("%s: fact %d: %s %s\n%+v\n%+v", name, i, again.Outcome, again.Why, d, again.Would)
		}
		if diff := cmp.Diff(d.Decision, again.Would); diff != "" || again.WouldMark != d.Mark {
			t.Fatalf("%s: fact %d at %v, was at %v:\n%s\n%+v", name, i, again.WouldMark, d.Mark, diff, d)
		}
	}
	if at != len(got.Decisions) || got.Asked != got.WouldAsk {
		t.Fatalf("%s: %d decisions, %d judged again; %d questions, %d again", name, at, len(got.Decisions), got.Asked, got.WouldAsk)
	}
	return at
}

// A decision that is judged again by other rules is the one that those rules make live in the same
// state.
func TestJudgedAgainIsAsJudgedLive(t *testing.T) {
	rules := mustRules(t, lawPolicy, "")
	for name, text := range map[string]string{
		"strict":     "version: 1\nprofile: strict\n",
		"a rule":     lawPolicy + "  - {name: no-mail, when: 'call.tool == \"message\" && mark.trust < owner', action: {verdict: restrict}}\n",
		"a value":    lawPolicy + "  - {name: to-bob, when: 'has(call.args.to) && call.args.to == \"bob@example.com\"', action: {verdict: restrict}}\n",
		"a tool":     lawPolicy + "tools:\n  - {agent: openclaw, tool: message, effect: observe, returns: {trust: external, secrecy: private}, args: {to: {role: content, is: text}, body: {role: content, is: text}}}\n",
		"an unknown": lawPolicy + "tools:\n  - {agent: openclaw, tool: odd, effect: send, returns: {trust: untrusted, secrecy: secret}, args: {to: {role: critical, is: destination}, url: {role: critical, is: url}, body: {role: content, is: text}}}\n",
		"no relax":   "version: 1\nrelax: false\nauditor: {on: true}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := mustRules(t, text, "")
			told, untold, changed := 0, 0, 0
			for seed := range max(*histories, 160) / 8 {
				h := newHistory(rules, uint64(seed))
				h.stricter = rules
				live := map[int]floodmark.Decision{}
				h.beside = func(in kernel.Input) {
					out, err := kernel.Step(h.state, other, in)
					if err != nil {
						return
					}
					live[len(h.facts)] = out.Reply.Decision
				}
				facts, err := recorded(h)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got, err := replay.Retrial{Now: other, Then: &rules}.Session(facts, nil)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for _, again := range got.Decisions {
					f := facts[again.Index].Fact.(floodmark.ActionDecided)
					want, ok := live[again.Index-f.Basis.Before]
					switch {
					case !ok || f.Action.Kind != floodmark.CallTool:
					case again.Outcome == replay.Untold:
						untold++
					case again.Would.Verdict != want.Verdict || again.WouldMark != f.Mark:
						t.Fatalf("seed %d: fact %d: judged again %+v at %v\nlive %+v\nwas %+v", seed, again.Index, again.Would, again.WouldMark, want, f)
					default:
						told++
						if again.Outcome == replay.Changed {
							changed++
						}
					}
				}
			}
			t.Logf("%d told, %d of them changed, %d cannot be told", told, changed, untold)
			if changed == 0 || untold*10 > told {
				t.Errorf("%d told, %d of them changed, %d cannot be told", told, changed, untold)
			}
		})
	}
}
