// Package pushdoor lets a person review a push before it happens. It stands between the agents'
// door and the monitor: it tells the monitor what the push of a call would send, and once a person
// has approved that, pushes it itself and refuses the agent's own push. It never decides whether a
// person is asked.
//
// The agent's own push is refused with "pushed for you" and not replaced by another command: a
// refusal works with every agent. A line in which another part could change the push is not
// reviewed, and is refused where it would be asked about. The review is in memory only: after a
// restart an approval of it counts for nothing and the push is shown again.
package pushdoor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/gitpush"
	"github.com/floodmark/floodmark/internal/pushreview"
	"github.com/floodmark/floodmark/internal/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// A Config is what a [Door] needs. Without a git nothing is reviewed.
type Config struct {
	// Hooks judges; the monitor implements it.
	Hooks agents.Hooks
	Git   gitpush.Config
	// View reads a session.
	View func(ctx context.Context, s journal.Session) (monitor.View, error)
	// Look says where a push from a project would go.
	Look func(project string) (workspace.Push, bool)
	Now  func() time.Time
}

// A Door passes events on to the monitor. It is safe for concurrent use.
type Door struct {
	cfg Config
	// run names this run of the monitor. Its reviews are in memory only, so an approval that comes
	// after a restart has no review.
	run string

	mu sync.Mutex // guards what is below
	// closed holds addresses that refused the monitor, until when. The agent's own push may have
	// another login there.
	closed map[string]time.Time
	// done are calls that were answered here, until the next one of the same name is
	// judged. Agents report their end as an error.
	done map[call]answer
}

// A call is one call of a session.
type call struct {
	session journal.Session
	id      floodmark.CallID
}

// An answer is an agent's reply for a call.
type answer struct {
	text string
	at   time.Time
}

// The limits of a door.
const (
	maxDone   = 1024
	forgotten = time.Hour
	closedFor = 10 * time.Minute
	maxWhy    = 300 // bytes of an error that is told
)

// New returns a door.
func New(cfg Config) *Door {
	return &Door{cfg: cfg, run: rand.Text(), done: map[call]answer{}, closed: map[string]time.Time{}}
}

// apart tells an agent how to push so that a person can look at it.
const apart = "a push is looked at by a person before it happens: run the other commands of this line, then ask for the push in a call of its own («git push» or «git push -u origin BRANCH», nothing else in the line)"

// Handle passes an event on.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	ev.Push, ev.Remote = nil, hook.Remote{}
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	switch {
	case d.cfg.Git.Git == "":
	case ev.Point == hook.BeforeToolCall:
		return d.before(ctx, s, ev)
	case ev.Point == hook.AfterToolCall && d.ofAnswer(call{s, ev.Call.ID}, ev.Result):
		// The agent reports our own refusal: what happened is written down already.
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
	}
	return d.cfg.Hooks.Handle(ctx, tenant, ev)
}

// before has a call judged, with what its push would send.
func (d *Door) before(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	d.answered(call{s, ev.Call.ID}) // a call of this name is judged now, and its result is its own
	line, is := agents.CommandLine(ev.Agent, ev.Call)
	if !is || !mayPush(line) {
		return d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	}
	copied, push, remote := d.look(ctx, s, line)
	if copied != nil {
		defer func() { _ = copied.Close() }() // what is left is swept
		ev.Retry = false                      // the call allowed before was another push
	}
	ev.Push, ev.Remote = push, remote
	reply, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	if copied != nil && reply.Decision.Verdict == floodmark.Confirm {
		reply.Shown = push.With(floodmark.Digest{}) // an approval in the agent's own window would let it push itself
	}
	if err != nil || copied == nil || reply.Decision.Verdict != floodmark.Allow || reply.Shown.IsZero() && !approved(reply.Decision) {
		return reply, err
	}
	if reply.BlockTurn || len(reply.Decision.Verifiers) > 0 {
		return reply, nil // it does not happen in any case
	}
	if !reply.Shown.IsZero() && reply.Shown != push.With(floodmark.Digest{}) {
		return hook.Reply{Line: "nothing was pushed: what was approved is not what is there now. Ask for the push again."}, nil
	}
	return d.push(ctx, s, ev, copied)
}

// mayPush reports a line in which a shell could read «push». The monitor decides whether it is a
// push.
func mayPush(line string) bool {
	read := strings.NewReplacer("'", "", `"`, "", "\\", "", "\n", "").Replace(line)
	return strings.Contains(read, "push") || strings.Contains(line, "git") && strings.ContainsAny(line, "$`")
}

// approved reports a decision that follows from a person's approval of a question. The call was
// judged with what its push would send, so the approval covers that. If a gate had to agree too,
// the reply shows no more of it than this.
func approved(d floodmark.Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.Granted && !strings.HasPrefix(r.Rule, kernel.StandingRule)
	})
}

// push pushes what was approved and answers the agent's own call with what happened.
func (d *Door) push(ctx context.Context, s journal.Session, ev hook.Event, c *gitpush.Copy) (hook.Reply, error) {
	// An agent that stops waiting does not stop a push half way.
	ctx = context.WithoutCancel(ctx)
	said, err := c.Push(ctx)
	p := c.Review.Plan
	text := fmt.Sprintf("pushed for you: commit %.12s is now branch %s of the remote. Do not push it again; go on.", p.Commit, p.Branch)
	if err != nil {
		text = fmt.Sprintf("the push was approved and did not succeed, so nothing is pushed: %s %s", said, floodmark.OneLine(strings.ReplaceAll(err.Error(), p.Address, pushreview.Shown(p.Address)), maxWhy))
	}
	if errors.Is(err, gitpush.ErrLogin) {
		d.bar(p.Address)
		text = gitpush.ErrLogin.Error() + ", so nothing is pushed. Make the call again: then a person is asked whether your own push may run"
	}
	d.answer(call{s, ev.Call.ID}, text)
	ev.Point, ev.Push = hook.AfterToolCall, nil
	ev.Result = hook.Result{Text: text, Error: err != nil}
	if _, noted := d.cfg.Hooks.Handle(ctx, s.Tenant, ev); noted != nil {
		return hook.Reply{}, noted
	}
	return hook.Reply{Line: text}, nil
}

// look reviews the push of a command line. It says nothing of a session whose remote was not known
// when it began.
func (d *Door) look(ctx context.Context, s journal.Session, line string) (*gitpush.Copy, *hook.Push, hook.Remote) {
	v, err := d.cfg.View(ctx, s)
	switch {
	case err != nil:
		return nil, &hook.Push{Unseen: "the session cannot be read"}, hook.Remote{}
	case v.State.Project == "" || v.State.PushesTo.IsZero():
		return nil, nil, hook.Remote{}
	}
	at, ok := d.cfg.Look(v.State.Project)
	remote := hook.Remote{Address: pushreview.Shown(at.Address), Team: at.Team, Own: at.Own, Changed: at.Settings != v.State.PushesTo}
	branch, plain := Plain(line)
	switch {
	case !plain:
		return nil, &hook.Push{Refuse: apart}, remote
	case !ok || remote.Changed:
		return nil, &hook.Push{Unseen: "the settings of git have changed since the session began"}, remote
	case branch != "" && branch != at.Branch:
		return nil, &hook.Push{Unseen: "it is not the branch that is checked out"}, remote
	case at.Address == "":
		return nil, &hook.Push{Unseen: "the settings of git name no single address"}, remote
	case d.barred(at.Address):
		return nil, &hook.Push{Unseen: "the monitor was not let in when it pushed there before"}, remote
	}
	c, err := gitpush.Prepare(ctx, d.cfg.Git, gitpush.Source{Objects: at.Objects, Address: at.Address, Branch: at.Branch, Commit: at.Commit})
	if err != nil {
		return nil, without(err), remote
	}
	p := &hook.Push{Head: c.Review.Head, Body: c.Review.Body, Rest: c.Review.Rest, Sent: c.Review.Sent}
	if at.Hook != "" {
		p.Head = append(slices.Clip(p.Head), "(the project's hook pre-push does not run)")
	}
	p.Digest = floodmark.DigestOf(d.run + c.Review.Digest().String() + strings.Join(p.Head, "\n"))
	return c, p, remote
}

// without says why there is no review, in our words: it does not repeat what git and the remote
// said. A push that removes commits, or whose objects git itself would not write, is not asked
// about.
func without(err error) *hook.Push {
	switch {
	case errors.Is(err, gitpush.ErrNothing):
		return &hook.Push{Refuse: gitpush.ErrNothing.Error()}
	case errors.Is(err, pushreview.ErrNotForward):
		return &hook.Push{Refuse: pushreview.ErrNotForward.Error() + ". Fetch, and put your commits on top of what is there"}
	case errors.Is(err, pushreview.ErrMalformed):
		return &hook.Push{Refuse: "what it sends cannot be shown: its history holds objects that are damaged or that git would not write"}
	}
	for _, known := range []error{pushreview.ErrTooMuch, gitpush.ErrRemote, gitpush.ErrNotFetched, gitpush.ErrBranchOnly, gitpush.ErrAddress} {
		if errors.Is(err, known) {
			return &hook.Push{Unseen: known.Error()}
		}
	}
	return &hook.Push{Unseen: "git could not compare it with what the remote has"}
}

// bar notes that an address refused the monitor.
func (d *Door) bar(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.closed) >= maxDone {
		clear(d.closed)
	}
	d.closed[address] = d.cfg.Now().Add(closedFor)
}

func (d *Door) barred(address string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cfg.Now().Before(d.closed[address])
}

// answer notes what an agent was told of a call.
func (d *Door) answer(c call, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.done) >= maxDone {
		old := d.cfg.Now().Add(-forgotten)
		maps.DeleteFunc(d.done, func(_ call, a answer) bool { return a.at.Before(old) })
	}
	if len(d.done) >= maxDone {
		clear(d.done)
	}
	d.done[c] = answer{text, d.cfg.Now()}
}

// answered returns what an agent was told of a call, once.
func (d *Door) answered(c call) (text string, was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, was := d.done[c]
	delete(d.done, c)
	return a.text, was
}

// ofAnswer reports what an agent gives back of a call that was answered here.
func (d *Door) ofAnswer(c call, r hook.Result) bool {
	text, was := d.answered(c)
	return was && agents.GaveBack(r, text)
}
