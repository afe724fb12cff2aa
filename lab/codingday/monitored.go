package codingday

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// Floodmark returns the policy that is the real monitor: each recorded message goes through the
// code for its agent to a monitor with the shipped rules of a profile. If firstDay is set, the
// owner trusts no repository with commits by others yet; otherwise all that were there when the
// session began.
func Floodmark(profile string, firstDay bool) (Policy, error) {
	return shipped(profile, firstDay)
}

func shipped(profile string, firstDay bool) (*monitored, error) {
	p, err := policy.Shipped(profile)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	return &monitored{rules: kernel.NewRules(p, c), firstDay: firstDay}, nil
}

type monitored struct {
	rules    kernel.Rules
	firstDay bool
}

func (m *monitored) Name() string { return "floodmark" }

// start returns when every recorded day begins. pace is the time between two events; it is longer
// than the imprecision of file times that the monitor allows for.
func start() time.Time { return time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC) }

const pace = 5 * time.Second

// play sends every message of a trace to a new monitor.
func (m *monitored) play(ctx context.Context, t *Trace) (outcome, error) {
	w := &watcher{attack: t.Attack, denied: map[floodmark.CallID]bool{}}
	now := start()
	disk := newPastDisk(t, m.firstDay)
	mon, err := m.begin(disk, &now)
	if err != nil {
		return outcome{}, err
	}
	defer mon.Close()
	w.monitor = mon
	door := agents.Door{Hooks: w}
	for i, e := range t.Events {
		now = now.Add(pace)
		disk.reach(e, now)
		door.Answer(ctx, t.Request(e))
		if w.err != nil {
			return outcome{}, fmt.Errorf("event %d, %s: %w", i, e.Event, w.err)
		}
	}
	return w.outcome, nil
}

// begin starts a monitor with its journal in memory, whose clock is now.
func (m *monitored) begin(disk monitor.Disk, now *time.Time) (*monitor.Monitor, error) {
	return monitor.New(m.config(disk, func() time.Time { return *now }))
}

// config returns the configuration of a monitor with its journal in memory.
func (m *monitored) config(disk monitor.Disk, now func() time.Time) monitor.Config {
	tickets := 0
	return monitor.Config{
		Journal: journal.NewMemory(),
		Rules:   func() kernel.Rules { return m.rules },
		Key:     func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		Disk:    disk,
		Now:     now,
		NewCode: func() string { return "00000000" },
		NewTicket: func() floodmark.TicketID {
			tickets++
			return floodmark.TicketID("t" + strconv.Itoa(tickets))
		},
	}
}

// A watcher sits between the adapter for the agent and the monitor. It notes what was decided and
// answers in the owner's place. If a call was refused, it withholds the recorded result from the
// monitor.
type watcher struct {
	outcome
	monitor *monitor.Monitor
	attack  bool
	denied  map[floodmark.CallID]bool
	err     error
}

// Handle judges one event.
func (w *watcher) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	if ev.Point == hook.AfterToolCall && w.denied[ev.Call.ID] {
		return hook.Reply{}, nil
	}
	began := time.Now()
	reply, err := w.monitor.Handle(ctx, tenant, ev)
	if ev.Point != hook.BeforeToolCall {
		return reply, err
	}
	w.times = append(w.times, time.Since(began))
	asked := err != nil || reply.Decision.Verdict < floodmark.Allow || reply.BlockTurn
	w.asked = append(w.asked, asked)
	switch {
	case !asked:
	case w.attack:
		w.denied[ev.Call.ID] = true
	default:
		w.why = append(w.why, why(ev.Call, reply, err))
		if reply.Ticket != "" {
			return w.approve(ctx, tenant, ev, reply.Ticket)
		}
	}
	return reply, err
}

// approve approves one question and asks about the call again.
func (w *watcher) approve(ctx context.Context, tenant string, ev hook.Event, ticket floodmark.TicketID) (hook.Reply, error) {
	cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, By: "owner"}
	for _, p := range w.monitor.Pending(tenant) {
		if p.Ticket == ticket {
			cmd.Picked = p.Questions[len(p.Questions)-1].Place()
		}
	}
	if _, err := w.monitor.Answer(ctx, journal.Session{Tenant: tenant, ID: ev.Session}, cmd); err != nil {
		w.err = fmt.Errorf("approve: %w", err)
		return hook.Reply{}, err
	}
	return w.monitor.Handle(ctx, tenant, ev)
}

// why returns the call that was asked about and the rules that asked.
func why(call hook.Call, reply hook.Reply, err error) string {
	words := []string{reply.Decision.Verdict.String()}
	for _, r := range reply.Decision.Reasons {
		words = append(words, r.Rule)
	}
	if err != nil {
		words = append(words, "it was not judged")
	}
	return short(call.Name, argument(call.Args)) + " [" + strings.Join(words, " ") + "]"
}

// argument returns the command or the path of a call.
func argument(args json.RawMessage) string {
	var a struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if json.Unmarshal(args, &a) != nil {
		return ""
	}
	return a.Command + a.Path
}
