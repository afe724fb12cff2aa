package kernel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/verify"
)

// A world is what lies around a random session: a disk, the records of artifacts, sub-agents, the
// owner's pause, and what an adapter knows of boxes and pushes.
type world struct {
	disk     artifact.Disk // nil if it cannot be read
	shelf    shelves       // nil if nothing is recorded
	pause    floodmark.Pause
	children map[floodmark.SessionID]*kernel.State
	told     []hook.Event      // calls that were told of
	next     []hook.Event      // what has to happen next
	says     *approval.Command // what the owner answers next
}

// shelves hold the records that sessions left.
type shelves map[floodmark.ArtifactRef]map[floodmark.SessionID]artifact.Kept

func (s shelves) Find(refs []floodmark.ArtifactRef) (found []artifact.Kept) {
	for _, ref := range refs {
		for _, id := range slices.Sorted(maps.Keys(s[ref])) {
			found = append(found, s[ref][id])
		}
	}
	return found
}

func (s shelves) put(out kernel.Output, by floodmark.SessionID, seq int) {
	for _, g := range out.Gone {
		delete(s[g.Ref], g.Version.Session)
	}
	for _, a := range out.Artifacts {
		if s[a.Ref] == nil {
			s[a.Ref] = map[floodmark.SessionID]artifact.Kept{}
		}
		s[a.Ref][by] = artifact.Kept{Version: floodmark.ArtifactVersion{Session: by, Seq: uint64(seq)}, Artifact: a}
	}
}

func newWorld(seed uint64) *world {
	w := &world{children: map[floodmark.SessionID]*kernel.State{}}
	if seed%3 > 0 {
		w.disk = seededDisk(seed)
	}
	if seed%2 > 0 {
		w.shelf = shelves{}
	}
	if seed%4 > 0 {
		w.next = []hook.Event{{Point: hook.SessionStart, Cause: hook.Startup, Project: "/home/ann/work", Home: "/home/ann"}}
	}
	return w
}

// around puts an event into the world.
func (h *history) around(in *kernel.Input) {
	w := h.world
	if w == nil {
		return
	}
	ev := &in.Event
	if len(w.next) > 0 {
		next := w.next[0]
		next.Agent, next.Session = ev.Agent, ev.Session
		*ev, w.next = next, w.next[1:]
	} else {
		h.likely(ev)
		h.boxed(ev)
	}
	if in.Disk = w.disk; w.shelf != nil {
		in.Artifacts = w.shelf
	}
	if h.rng.IntN(40) == 0 {
		w.pause = pick(h, floodmark.Pause{}, floodmark.Pause{}, floodmark.Pause{From: h.at, Until: h.at.Add(5 * time.Minute)}, floodmark.Pause{From: h.at, Until: h.at.Add(5 * time.Minute), Session: pick(h, ev.Session, "other")},
			floodmark.Pause{From: h.at, Until: h.at.Add(5 * time.Minute), Observe: true})
	}
	in.Pause = w.pause
	if ev.Point == hook.SubagentEnded {
		in.Child = w.children[ev.Child]
	}
	if ev.Point == hook.BeforeToolCall {
		w.told = append(w.told, *ev)
	}
}

// likely replaces many events with one of those that histories would otherwise have rarely: a call
// that a real agent makes, a person who clears the context, and an owner who asks for something.
func (h *history) likely(ev *hook.Event) {
	likely := hook.Event{Agent: ev.Agent, Session: ev.Session}
	switch h.rng.IntN(8) {
	case 0, 1, 2:
		likely.Point, likely.Call = hook.BeforeToolCall, h.likelyCall()
	case 3:
		if h.rng.IntN(2) == 0 {
			return
		}
		likely.Point, likely.Cause, likely.ByPerson, likely.Project, likely.Home = hook.SessionStart, hook.Clear, true, diskProject, "/home/ann"
	case 4:
		likely.Point, likely.Origin = hook.MessageReceived, floodmark.Origin{Kind: floodmark.FromSender, Sender: "owner", IsOwner: true}
		likely.Text = pick(h, "please install the packages and run make test", "push it to main", "send mail to bob@example.com", "go on")
	default:
		return
	}
	*ev = likely
}

func (h *history) likelyCall() hook.Call {
	c := hook.Call{ID: floodmark.CallID(pick(h, "c1", "c2", "c3", "c4"))}
	arg := "command"
	if c.Name = "exec"; h.agent == "claude-code" {
		c.Name = "Bash"
	}
	value := pick(h, "npm ci", "npm test", "make test", "go build ./...", "cargo build", "pip install -r requirements.txt", "git push origin main", "git status",
		"curl https://registry.example/x", "rm -rf build", "docker compose up", "git commit -m x", "./run.sh", "cat .env", "psql -h db.example", "echo x > link/config")
	if h.rng.IntN(4) == 0 && h.agent == "claude-code" {
		c.Name = pick(h, "Read", "Write", "Edit", "WebFetch")
		if arg, value = "file_path", pick(h, diskProject+"/a.go", diskProject+"/CLAUDE.md", diskProject+"/link/config", "/home/ann/lib/x", "/tmp/x"); c.Name == "WebFetch" {
			arg, value = "url", "https://example.com/3"
		}
	}
	c.Args, _ = json.Marshal(map[string]string{arg: value, "content": pick(h, "x", "see https://example.net/3")}) // strings can always be written
	if arg != "file_path" {
		c.Args, _ = json.Marshal(map[string]string{arg: value})
	}
	return c
}

// boxed adds what an adapter knows of a call: boxes and their hosts, lock files, a push, how a box
// ended, and that a call was sent before.
func (h *history) boxed(ev *hook.Event) {
	often := func(n int) bool { return h.rng.IntN(n) == 0 }
	if ev.Point == hook.AfterToolCall && often(3) && len(h.world.told) > 0 {
		ev.Call = pick(h, h.world.told...).Call
		ev.Box = h.boxEnd()
	}
	if ev.Point != hook.BeforeToolCall {
		return
	}
	if often(8) && len(h.world.told) > 0 {
		*ev = pick(h, h.world.told...)
		ev.Retry = often(2)
		return
	}
	ev.Boxes = !often(3)
	ev.Holes = ev.Boxes && often(2)
	ev.Repository = pick(h, floodmark.Digest{}, floodmark.DigestOf("repository"))
	if often(6) {
		ev.Locks = []string{"/home/ann/work/package-lock.json"}
	}
	if often(10) {
		ev.Push = &hook.Push{
			Digest: pick(h, floodmark.Digest{}, floodmark.DigestOf("push")), Head: []string{"pushes 1 commit"}, Body: []string{"  + a line"},
			Unseen: pick(h, "", "it is too large"), Refuse: pick(h, "", "", "", "push it alone"),
		}
	}
	ev.Granted = h.state.Book.Lasting(h.at)
	if leaves, err := ev.Call.Leaves(); err == nil && often(6) {
		ev.Granted = append(ev.Granted, hook.Lasting{
			Ticket: pick(h, h.tickets...), Tool: floodmark.ToolRef{Agent: ev.Agent, Server: ev.Call.Server, Name: ev.Call.Name}, Args: hook.DigestOf(leaves),
			Hosts: pick(h, nil, []string{"registry.example:443"}), Here: ev.Repository, Mark: pick(h, floodmark.Clean(), floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}),
		})
	}
}

func (h *history) boxEnd() *hook.BoxEnd {
	return &hook.BoxEnd{
		Ticket: "b", State: pick(h, floodmark.BoxEnded, floodmark.BoxEnded, floodmark.BoxRunsOn, floodmark.BoxRefused, ""), Failed: h.rng.IntN(3) > 0,
		Exit: h.rng.IntN(3), Hosts: pick(h, nil, []string{"registry.example:443"}, []string{"evil.example:443", "a\nb"}), Paths: pick(h, nil, []string{"/home/ann/x"}),
	}
}

// lives keeps what an answer leaves in the world. A call that was boxed often fails there and comes
// again.
func (h *history) lives(in kernel.Input, out kernel.Output) error {
	w := h.world
	if w == nil {
		return nil
	}
	if w.shelf != nil {
		w.shelf.put(out, in.Event.Session, len(h.facts))
	}
	for _, f := range out.Forks {
		child, err := kernel.Replay(f.Facts)
		if err != nil {
			return err
		}
		ev := hook.Event{Agent: in.Event.Agent, Session: f.Session, Point: hook.MessageReceived, Origin: h.origin(), Text: h.text()}
		saw, err := kernel.Step(child, h.rules, kernel.Input{Event: ev, At: in.At, Key: in.Key, Index: postings.NewMemory(), Code: in.Code, Ticket: in.Ticket})
		if err != nil {
			return err
		}
		for _, fact := range saw.Facts {
			if err := child.Apply(fact); err != nil {
				return err
			}
		}
		w.children[f.Session] = child
	}
	if out.Ask != nil && in.Event.Point == hook.BeforeToolCall && len(w.next) == 0 && h.rng.IntN(3) == 0 {
		w.says = &approval.Command{
			Verb: approval.Approve, Tool: approval.All, Ticket: out.Ask.ID, Calls: out.Ask.Calls, Seen: out.Ask.Seen, By: "owner", Channel: "phone",
			Offer: h.rng.IntN(len(out.Ask.Call.Offers) + 1), Always: h.rng.IntN(4) == 0,
		}
		w.next = []hook.Event{in.Event}
	}
	if d := out.Reply.Decision; in.Event.Point == hook.BeforeToolCall && d.Contained() && out.Verify == nil && len(w.next) == 0 && h.rng.IntN(2) == 0 {
		after, again := in.Event, in.Event
		after.Point, after.Result, after.Box = hook.AfterToolCall, hook.Result{Text: h.text()}, h.boxEnd()
		w.next = []hook.Event{after, again}
	}
	return nil
}

// asked lets gates answer until none is asked. If all agree at once, the decision is as it was.
func (h *history) asked(in kernel.Input, out kernel.Output, shown *audit.Case, o audit.Opinion) (kernel.Output, error) {
	for round := range 3 {
		if out.Verify == nil {
			return out, nil
		}
		if err := h.take(in, out, nil, false); err != nil {
			return out, err
		}
		before := out
		still := true
		if h.rng.IntN(4) == 0 {
			still = false
			h.n++
			if err := h.one(); err != nil {
				return out, fmt.Errorf("while gates are asked: %w", err)
			}
		}
		hearing := kernel.Hearing{Asked: *out.Verify, Case: shown, Opinion: o, Last: round == 2}
		agree := h.rng.IntN(2) == 0
		for i, g := range out.Verify.Gates {
			if a := (kernel.GateAnswer{Gate: g.Name, Request: "r", Answer: verify.Answer{Allow: true}}); agree {
				hearing.Answers = append(hearing.Answers, a)
			} else if i == 0 || h.rng.IntN(6) > 0 {
				hearing.Answers = append(hearing.Answers, pick(h, a, no(g.Name, "no"), silent(g.Name, verify.TimedOut), silent(g.Name, verify.Deadline)))
			}
		}
		var err error
		if out, err = kernel.Verify(h.state, h.rules, in, hearing); err != nil {
			return out, err
		}
		if h.verified++; still && agree {
			if err := agreed(before, out); err != nil {
				return out, fmt.Errorf("after every gate agreed: %w", err)
			}
		}
	}
	if out.Verify != nil {
		return out, errors.New("gates are asked after the last time")
	}
	return out, nil
}

// agreed returns an error unless a call that waited for gates runs as it was judged before.
func agreed(before, after kernel.Output) error {
	a, b := lastDecided(before.Facts), lastDecided(after.Facts)
	if b == nil || b.Decision.Verdict != floodmark.Allow || len(b.Decision.Verifiers) > 0 || after.Ask != nil {
		return fmt.Errorf("it is not allowed:\n%+v\nwas\n%+v", b, a)
	}
	type as struct {
		reach                       floodmark.Reach
		mark                        floodmark.Label
		effects                     []floodmark.Effect
		hosts                       []string
		boxable, mirror, tried, rem bool
		would                       string
	}
	of := func(f *floodmark.ActionDecided, r hook.Reply) as {
		return as{f.Decision.Reach, f.Mark, f.Action.Effects, f.Basis.Hosts, f.Basis.Boxable, f.Basis.Mirror, f.Basis.Tried, r.Mirror == f.Basis.Mirror, f.Decision.Would}
	}
	if x, y := of(a, before.Reply), of(b, after.Reply); !reflect.DeepEqual(x, y) || before.Reply.Mirror != after.Reply.Mirror || before.Reply.Tried != after.Reply.Tried {
		return fmt.Errorf("it runs as\n%+v %+v\nand was judged as\n%+v %+v", y, after.Reply, x, before.Reply)
	}
	return nil
}

// A seededDisk answers the same to the same question.
type seededDisk uint64

const diskProject = "/home/ann/work"

func (d seededDisk) Around(p string) (artifact.Checkout, bool) {
	others := strings.Repeat("c", 40)
	switch {
	case strings.HasPrefix(p, "/home/ann/lib"):
		return artifact.Checkout{Root: "/home/ann/lib", Commit: others, Remote: "https://git.example/lib"}, true
	case p != diskProject && !strings.HasPrefix(p, diskProject+"/"):
		return artifact.Checkout{}, false
	}
	switch d % 5 {
	case 0, 1:
		return artifact.Checkout{Root: diskProject, Own: true}, true
	case 2:
		return artifact.Checkout{Root: diskProject, Team: true, Commit: others, Remote: "https://git.example/team"}, true
	}
	return artifact.Checkout{Root: diskProject, Commit: others, Remote: "https://git.example/x"}, true
}

func (d seededDisk) Revisions(_ string, words []string) []artifact.Checkout {
	if d%4 > 0 || len(words) == 0 {
		return nil
	}
	return []artifact.Checkout{{Root: diskProject, Commit: strings.Repeat("d", 40), Remote: "https://git.example/fork"}}
}

func (d seededDisk) Resolve(p string) string {
	if rest, ok := strings.CutPrefix(p, diskProject+"/link"); ok && d%2 == 0 {
		return "/home/ann/.ssh" + rest
	}
	return p
}

func (d seededDisk) Links(folder string, _ bool) map[string]string {
	if folder != diskProject || d%2 > 0 {
		return nil
	}
	return map[string]string{diskProject + "/link": "/home/ann/.ssh"}
}

func (d seededDisk) Pushes(p, _ string) floodmark.Digest { return floodmark.DigestOf(p) }
func (d seededDisk) Databases(string) []string           { return []string{"db.example:5432"} }
func (d seededDisk) Composes(string) bool                { return d%2 == 0 }

func (d seededDisk) Secrets(artifact.Search) artifact.Hoard {
	return artifact.Hoard{Files: []artifact.Keeper{{Path: diskProject + "/.env"}}, Whole: d%2 == 0}
}

func (d seededDisk) Repository(string) (dir, common string) {
	return diskProject + "/.git", diskProject + "/.git"
}

func (d seededDisk) Nested(string) (folders []string, all bool) { return nil, d%7 > 0 }

func (d seededDisk) Starts(string, []string) []string {
	if d%6 > 0 {
		return nil
	}
	return []string{diskProject + "/.git/hooks/pre-commit"}
}

func (d seededDisk) Content(p string) floodmark.Digest { return floodmark.DigestOf(p) }
func (d seededDisk) Exactly(p string) floodmark.Digest { return floodmark.DigestOf(p) }
func (d seededDisk) Head(string) string                { return strings.Repeat("a", 40) }
func (d seededDisk) Missing(p string) bool             { return strings.HasSuffix(p, "0") }
