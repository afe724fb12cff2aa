// Package pushdoor lets a person review a push before it happens. It is placed in front of the
// monitor. It adds to a call what the call's push would send. Once a person has approved that, it
// does the push itself and refuses the agent's own push. It never decides whether a person is
// asked.
//
// The agent's own push is refused with "pushed for you". It is not replaced by another command,
// because a refusal works with every agent. A command line in which another part could change the
// push is not reviewed; if a person would be asked about it, it is refused. A review is only in
// memory. After a restart its approval has no effect, and the push is shown again.
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
	"github.com/floodmark/floodmark/internal/box/gitpush"
	"github.com/floodmark/floodmark/internal/box/pushreview"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// A Config holds the settings of a [Door]. If Git.Git is empty, nothing is reviewed.
type Config struct {
	// Hooks judges the events. It is the monitor.
	Hooks agents.Hooks
	Git   gitpush.Config
	// View reads a session.
	View func(ctx context.Context, s journal.Session) (monitor.View, error)
	// Look returns where a push from a project would go.
	Look func(project string) (workspace.Push, bool)
	Now  func() time.Time
}

// A Door passes events to the monitor, and adds reviews of pushes. It is safe for concurrent use.
type Door struct {
	cfg Config
	// run is a random name of this run of the monitor. It is part of the digest of a review, so
	// that an approval from before a restart does not match.
	run string

	mu sync.Mutex // guards what is below
	// closed holds the addresses that have refused the monitor, and until when they are not tried.
	// The agent's own push may have another login there.
	closed map[string]time.Time
	// done are the calls that were answered here. An entry stays until the agent reports the call's
	// result, which is our refusal, or until the next call with the same id.
	done map[call]answer
}

// A call identifies a call of a session.
type call struct {
	session journal.Session
	id      floodmark.CallID
}

// An answer is the text that an agent got for a call.
type answer struct {
	text string
	at   time.Time
}

// The limits of a door.
const (
	maxDone   = 1024
	forgotten = time.Hour
	closedFor = 10 * time.Minute
	maxWhy    = 300 // bytes of an error that an agent gets
)

// New returns a Door.
func New(cfg Config) *Door {
	return &Door{cfg: cfg, run: rand.Text(), done: map[call]answer{}, closed: map[string]time.Time{}}
}

// apart is the text that tells an agent how to push so that a person can review it.
const apart = "a push is looked at by a person before it happens: run the other commands of this line, then ask for the push in a call of its own («git push» or «git push -u origin BRANCH», nothing else in the line)"

// Handle passes an event to Hooks, with a review if it is a call that pushes.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	ev.Push, ev.Remote = nil, hook.Remote{}
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	switch {
	case d.cfg.Git.Git == "":
	case ev.Point == hook.BeforeToolCall:
		return d.before(ctx, s, ev)
	case ev.Point == hook.AfterToolCall && d.ofAnswer(call{s, ev.Call.ID}, ev.Result):
		// The agent reports our own refusal as the result. The push is recorded already.
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
	}
	return d.cfg.Hooks.Handle(ctx, tenant, ev)
}

// before passes a call to Hooks, with what its push would send, and does the push if it was
// approved.
func (d *Door) before(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	d.answered(call{s, ev.Call.ID}) // an earlier call with this id must not explain this one's result
	line, is := agents.CommandLine(ev.Agent, ev.Call)
	if !is || !mayPush(line) {
		return d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	}
	copied, push, remote := d.look(ctx, s, line)
	if copied != nil {
		defer func() { _ = copied.Close() }() // Open removes what is left
		ev.Retry = false                      // an earlier allowed call was another push
	}
	ev.Push, ev.Remote = push, remote
	reply, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	if copied != nil && reply.Decision.Verdict == floodmark.Confirm {
		reply.Shown = push.With(floodmark.Digest{}) // keeps agents from asking in a window of their own, where a yes would run their own push
	}
	if err != nil || copied == nil || reply.Decision.Verdict != floodmark.Allow || reply.Shown.IsZero() && !approved(reply.Decision) {
		return reply, err
	}
	if reply.BlockTurn || len(reply.Decision.Verifiers) > 0 {
		return reply, nil // the call is not allowed to run yet
	}
	if !reply.Shown.IsZero() && reply.Shown != push.With(floodmark.Digest{}) {
		return hook.Reply{Line: "nothing was pushed: what was approved is not what is there now. Ask for the push again."}, nil
	}
	return d.push(ctx, s, ev, copied)
}

// mayPush reports whether a shell could read "push" in a line. The monitor decides whether it is
// one.
func mayPush(line string) bool {
	read := strings.NewReplacer("'", "", `"`, "", "\\", "", "\n", "").Replace(line)
	return strings.Contains(read, "push") || strings.Contains(line, "git") && strings.ContainsAny(line, "$`")
}

// approved reports whether a decision follows from a person's approval of a question. The call was
// judged with what its push would send, so the approval covers that. It is needed because, if a
// gate had to agree, too, the reply shows the approval only by this reason.
func approved(d floodmark.Decision) bool {
	return slices.ContainsFunc(d.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.Granted && !strings.HasPrefix(r.Rule, kernel.StandingRule)
	})
}

// push does the approved push, and answers the agent's own call with what happened.
func (d *Door) push(ctx context.Context, s journal.Session, ev hook.Event, c *gitpush.Copy) (hook.Reply, error) {
	// The push must not be stopped half way if the agent stops waiting.
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

// look reviews the push of a command line. It returns nothing for a session whose remote was not
// known when the session began.
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

// without returns why there is no review, in our own words, because git and the remote may have
// said anything. A push that would remove commits, or whose objects are damaged, is refused, and a
// person is not asked.
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

// bar records that an address has refused the monitor.
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

// answer records the text that an agent got for a call.
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

// answered returns the text that an agent got for a call, and forgets it.
func (d *Door) answered(c call) (text string, was bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, was := d.done[c]
	delete(d.done, c)
	return a.text, was
}

// ofAnswer reports whether a result is our own answer to a call, which the agent reports back.
func (d *Door) ofAnswer(c call, r hook.Result) bool {
	text, was := d.answered(c)
	return was && agents.GaveBack(r, text)
}
