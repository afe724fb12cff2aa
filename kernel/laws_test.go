package kernel_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/verify"
)

// histories is how many random sessions the laws are checked on. The gate's laws suite checks
// 10,000.
var histories = flag.Int("histories", 0, "random histories of 100 events (0: 300, or 40 in a short run)")

const eventsPerHistory = 100

// Whatever an agent does, in whatever order:
//
//   - the mark rises only by an endorsement or a cleared context;
//   - what was journaled survives being written and read, and replaying it
//     gives the very state the live session had, as does its snapshot;
//   - only an owner's command gives a grant;
//   - a code is in no reply and in no fact;
//   - the facts alone say what a question said when it was asked;
//   - a call that every gate agreed to runs as it was judged before they were asked;
//   - without an approval no decision is less strict than the policy's ruling;
//   - what is remembered of the owner's words changes no answer, and neither does it that
//     what was seen lies in files, in pieces of any size;
//   - a stricter layer never gives a more permissive answer.
func TestAnyHistoryKeepsTheLaws(t *testing.T) {
	kinds := lawKinds(t)
	n := *histories
	switch {
	case n > 0:
	case testing.Short():
		n = 40
	default:
		n = 300
	}
	workers := 4
	for w := range workers {
		t.Run(fmt.Sprint("share ", w), func(t *testing.T) {
			t.Parallel()
			for seed := w; seed < n; seed += workers {
				kind := kinds[seed/workers%len(kinds)]
				h := newHistory(kind.rules, uint64(seed))
				h.stricter, h.agent = kind.stricter, kind.agent
				if seed%2 == 0 { // those with a world take longer
					h.world = newWorld(uint64(seed / 2))
				}
				if err := h.run(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// A lawKind is one agent under some rules, and under stricter ones.
type lawKind struct {
	agent           string
	rules, stricter kernel.Rules
}

// lawKinds returns rules with and without gates, those of the policy and those of the settings.
func lawKinds(t *testing.T) []lawKind {
	const gates = "verifiers: [{name: webhook, failMode: allow}]\n"
	var kinds []lawKind
	for _, k := range []struct{ agent, policy string }{
		{"openclaw", lawPolicy},
		{"openclaw", lawPolicy + gates},
		{"claude-code", lawCoding},
		{"claude-code", lawCoding + gates},
		{"claude-code", lawCoding + "approvals: {quiet: {from: '00:00', to: '00:10', zone: UTC, do: deny}}\n"},
		{"claude-code", lawCoding + "approvals: {quiet: {from: '00:00', to: '00:10', zone: UTC, do: hold}}\n" + gates},
	} {
		kind := lawKind{k.agent, mustRules(t, k.policy, ""), mustRules(t, k.policy, lawProject)}
		if strings.Contains(k.policy, gates) {
			kind.rules.Gates = verify.Gates{{Name: "phone", Scope: verify.Scope{Include: []string{"exec", "Bash", "message"}}}}
			kind.stricter.Gates = kind.rules.Gates
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

const lawCoding = `
version: 1
profile: coding
auditor: {on: true}
`

const lawPolicy = `
version: 1
profile: assistant
auditor: {on: true}
rules:
  - name: no-gateway
    when: {context_taint_includes: [untrusted]}
    action: {block_tools: [gateway]}
`

const lawProject = `
version: 1
taintPolicy: {local: confirm, shared: confirm, external: confirm, untrusted: restrict}
rules:
  - name: never-exec
    when: 'call.tool == "exec" && mark.trust <= external'
    action: {verdict: restrict}
`

// A history is one random session being lived.
type history struct {
	rng      *rand.Rand
	rules    kernel.Rules
	stricter kernel.Rules
	beside   func(kernel.Input) // sees every call before it is decided
	state    *kernel.State
	facts    []floodmark.Fact
	index    *postings.Memory
	at       time.Time
	codes    []string
	tickets  []floodmark.TicketID
	seen     []string // texts that came in, to be repeated
	readings kernel.Readings
	agent    string
	n        int
	world    *world // what lies around the session; nil for none
	verified int    // how often gates answered

	// bounded is the index that keeps little in memory; pieces are its files.
	bounded *postings.Memory
	pieces  int
}

// A piece is a file in memory.
type piece struct{ bytes.Buffer }

func (p *piece) ReadAt(into []byte, at int64) (int, error) {
	return bytes.NewReader(p.Bytes()).ReadAt(into, at)
}

func newHistory(rules kernel.Rules, seed uint64) *history {
	h := &history{
		rng: rand.New(rand.NewPCG(seed, 1)), rules: rules, state: kernel.NewState(), index: postings.NewMemory(),
		at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), codes: []string{"00000000"}, tickets: []floodmark.TicketID{"t0"},
		seen: []string{"hello"}, agent: "openclaw",
	}
	h.bounded = postings.NewSpilling(1+int(seed%20), func() (postings.File, error) {
		h.pieces++
		return &piece{}, nil
	})
	return h
}

func (h *history) run() error {
	for range eventsPerHistory {
		h.n++
		h.at = h.at.Add(time.Duration(h.rng.IntN(40)) * time.Second)
		if err := h.one(); err != nil {
			return fmt.Errorf("event %d: %w", h.n, err)
		}
	}
	if err := h.bounded.Err(); err != nil || h.pieces == 0 && h.world == nil { // in a world little may be read
		return fmt.Errorf("%d pieces of the index: %w", h.pieces, err)
	}
	return h.replay()
}

// remembers checks that an answer is the same with remembered readings and with an index in pieces.
func (h *history) remembers(in kernel.Input, out kernel.Output) error {
	in.Readings, in.Index = &h.readings, h.bounded
	again, err := kernel.Step(h.state, h.rules, in)
	if err != nil || !reflect.DeepEqual(out, again) {
		return fmt.Errorf("with the owner's words read before and the index in %d pieces: %v\n%+v\nwithout:\n%+v", h.pieces, err, again, out)
	}
	return nil
}

func (h *history) one() error {
	in := kernel.Input{
		At: h.at, Key: provenance.Key{7}, Index: h.index,
		Code: fmt.Sprintf("%08x", h.rng.Uint32()), Ticket: floodmark.TicketID(fmt.Sprint("t", h.n)),
		Event: h.event(),
	}
	if h.world != nil && h.world.says != nil {
		cmd := *h.world.says
		h.world.says = nil
		out, err := kernel.Answer(h.state, h.rules, in, cmd)
		return h.take(in, out, err, true)
	}
	h.around(&in)
	if h.rng.IntN(25) == 0 {
		cmd := approval.Command{
			Verb: pick(h, approval.Approve, approval.Deny, approval.Endorse, approval.Withdraw, approval.Status),
			Tool: approval.All, Ticket: pick(h, h.tickets...), Digest: floodmark.DigestOf(pick(h, h.seen...)).String(), By: "owner",
		}
		out, err := kernel.Answer(h.state, h.rules, in, cmd)
		return h.take(in, out, err, true)
	}
	out, err := kernel.Step(h.state, h.rules, in)
	if err == nil && in.Event.Point == hook.BeforeToolCall {
		if h.beside != nil {
			h.beside(in)
		}
		if err := h.compare(in, out); err != nil {
			return err
		}
		if err := h.remembers(in, out); err != nil {
			return err
		}
		for _, r := range []kernel.Rules{h.rules, h.stricter} {
			if err := kernel.Loosened(h.state, r, in); err != nil {
				return err
			}
		}
	}
	shown, opinion := out.Case, audit.Opinion{}
	if out.Case != nil {
		if err := h.take(in, out, err, false); err != nil {
			return err
		}
		opinion = pick(h, audit.Opinion{}, audit.Opinion{Says: audit.Unsure}, audit.Opinion{Says: audit.Allow}, audit.Opinion{Says: audit.Block, Reason: "no"})
		out, err = kernel.Opine(h.state, h.rules, in, opinion)
	}
	if err == nil && out.Verify != nil {
		if out, err = h.asked(in, out, shown, opinion); err != nil {
			return err
		}
	}
	o := in.Event.Origin
	return h.take(in, out, err, in.Event.Point == hook.MessageReceived && o.IsOwner && o.Group == "")
}

// compare asks the stricter rules about the same event.
func (h *history) compare(in kernel.Input, out kernel.Output) error {
	strict, err := kernel.Step(h.state, h.stricter, in)
	if err != nil {
		return err
	}
	if a, b := out.Reply.Decision, strict.Reply.Decision; b.Verdict > a.Verdict {
		return fmt.Errorf("the stricter layer answers %v, without it %v:\n%+v\n%+v", b.Verdict, a.Verdict, b, a)
	}
	return nil
}

// take checks what came out and applies it to the session.
func (h *history) take(in kernel.Input, out kernel.Output, err error, owner bool) error {
	if err != nil {
		if !reflect.DeepEqual(out, kernel.Output{}) {
			return fmt.Errorf("an error beside an answer: %w", err)
		}
		return nil
	}
	if err := h.codeStaysSecret(in, out); err != nil {
		return err
	}
	before, raised := h.state.Mark(), false
	for _, f := range out.Facts {
		f, err := roundTrip(f)
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case floodmark.Endorsed, floodmark.ContextCleared:
			raised = true
		case floodmark.ContentArrived:
			// What was announced turned out to be content the owner endorsed.
			raised = raised || slices.ContainsFunc(h.state.Ledger.Endorsements(), func(e floodmark.Endorsed) bool { return e.Digest == f.Digest })
		case floodmark.GrantGiven:
			if !owner {
				return fmt.Errorf("%s gave a grant", in.Event.Point)
			}
		}
		if err := sameWords(h.state, h.rules, in, h.facts, f, out); err != nil {
			return err
		}
		if err := h.state.Apply(f); err != nil {
			return err
		}
		h.facts = append(h.facts, f)
	}
	for _, c := range out.Indexed {
		h.index.Add(c.Node, in.Key.Postings(c.Text))
		h.bounded.Add(c.Node, in.Key.Postings(c.Text))
		h.seen = append(h.seen, c.Text)
	}
	if out.Ask != nil {
		if err := asShown(h.state, in.At, out.Ask); err != nil {
			return err
		}
		h.codes, h.tickets = append(h.codes, out.Ask.Code), append(h.tickets, out.Ask.ID)
	}
	if err := h.lives(in, out); err != nil {
		return err
	}
	if after := h.state.Mark(); !raised && !after.AtLeastAsSafe(before) {
		return fmt.Errorf("%s: the mark rose from %v to %v", in.Event.Point, before, after)
	}
	return nil
}

func (h *history) codeStaysSecret(in kernel.Input, out kernel.Output) error {
	if out.Ask == nil || out.Ask.Code == "" {
		return nil
	}
	reply, err := json.Marshal(out.Reply)
	if err != nil {
		return err
	}
	text := string(reply)
	for _, f := range out.Facts {
		_, body, err := factjson.Encode(f)
		if err != nil {
			return err
		}
		text += string(body)
	}
	// With so many hashes, some content has one by chance.
	text = regexp.MustCompile(`\b[0-9a-f]{64}\b`).ReplaceAllString(text, "")
	if strings.Contains(text, in.Code) {
		return fmt.Errorf("the code %s is in a reply or a fact: %s", in.Code, text)
	}
	return nil
}

func (h *history) replay() error {
	again, err := kernel.Replay(h.facts)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(h.state, again) {
		return fmt.Errorf("replay differs\nlive  %+v\nagain %+v", h.state, again)
	}
	data, err := h.state.Snapshot()
	if err != nil {
		return err
	}
	restored, err := kernel.Restore(data)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(h.state, restored) {
		return fmt.Errorf("the snapshot differs:\n%s", cmp.Diff(h.state, restored, cmp.Exporter(func(reflect.Type) bool { return true })))
	}
	return nil
}

func roundTrip(f floodmark.Fact) (floodmark.Fact, error) {
	kind, body, err := factjson.Encode(f)
	if err != nil {
		return nil, err
	}
	g, err := factjson.Decode(kind, body)
	if err == nil && !reflect.DeepEqual(f, g) {
		return nil, fmt.Errorf("fact changed on the way: %+v, %+v", f, g)
	}
	return g, err
}

func pick[T any](h *history, from ...T) T { return from[h.rng.IntN(len(from))] }
