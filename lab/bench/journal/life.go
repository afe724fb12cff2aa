package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

const agent = "openclaw"

// opening returns the first events of every session: the owner asks for
// something, and two pages of about two kilobytes are read.
func opening(id floodmark.SessionID) []hook.Event {
	owner := floodmark.Origin{Kind: floodmark.FromSender, Sender: "owner", IsOwner: true}
	events := []hook.Event{
		{Agent: agent, Session: id, Point: hook.SessionStart},
		{Agent: agent, Session: id, Point: hook.MessageReceived, Origin: owner, Text: fmt.Sprintf("read https://news.example/%[1]s/0 and https://news.example/%[1]s/1 about invoice 7 and mail what you find to anna@firm.example", id)},
	}
	for i := range 2 {
		before := toolCall(id, fmt.Sprint("page", i), "web_fetch", fmt.Sprintf(`{"url":"https://news.example/%s/%d"}`, id, i))
		after := before
		after.Point, after.Result = hook.AfterToolCall, hook.Result{Text: page(string(id), i)}
		events = append(events, before, after)
	}
	return events
}

// page returns the text of a fetched page. No two sessions read the same page.
func page(id string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "News %d for %s. ", n, id)
	for i := range 16 {
		fmt.Fprintf(&b, "Paragraph %d tells of order %s-%d-%d, which user%d@firm.example placed at https://shop.example/%d for 19 coins each. ", i, id, n, i, i, i)
	}
	return b.String()
}

// question returns the k-th call of a session. Of eight calls, six read a file, which is allowed.
// One fetches a page that the owner did not name, and one sends a mail to an address that a page
// named. About these two a person is asked.
func question(id floodmark.SessionID, k int) hook.Event {
	call := fmt.Sprintf("c%06d", k)
	switch {
	case k%8 == 3:
		return toolCall(id, call, "web_fetch", fmt.Sprintf(`{"url":"https://news.example/more/%06d"}`, k))
	case k%8 == 7:
		return toolCall(id, call, "send_email", fmt.Sprintf(`{"to":"user%d@firm.example","body":"the order %06d is paid"}`, k%16, k))
	case k%2 == 0:
		return toolCall(id, call, "read", fmt.Sprintf(`{"path":"/work/notes-%06d.md"}`, k))
	default:
		return toolCall(id, call, "read", fmt.Sprintf(`{"path":"/work/list-%06d.md"}`, k))
	}
}

func toolCall(id floodmark.SessionID, call, tool, args string) hook.Event {
	return hook.Event{Agent: agent, Session: id, Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(call), Name: tool, Args: json.RawMessage(args)}}
}

// answered returns an error unless an event got the expected answer, because with another answer
// the bench would measure other work. A person must be asked about pages that the owner did
// not name and about mails. Everything else must be allowed.
func answered(ev hook.Event, reply hook.Reply, err error) error {
	want := floodmark.Allow
	if ev.Point == hook.BeforeToolCall && (ev.Call.Name == "send_email" || strings.Contains(string(ev.Call.Args), "https://news.example/more/")) {
		want = floodmark.Confirm
	}
	if got := reply.Decision.Verdict; err == nil && got != want {
		return fmt.Errorf("%s %s %s was answered %s, want %s: %v", ev.Point, ev.Call.Name, ev.Call.Args, got, want, reply.Decision.Reasons)
	}
	return err
}

// shippedRules returns the rules of a new installation, with a higher cap on rounds.
func shippedRules() (kernel.Rules, error) { return rulesOf("assistant") }

// codingRules returns the rules for coding agents, with a higher cap on rounds.
func codingRules() (kernel.Rules, error) { return rulesOf("coding") }

// rulesOf returns the rules of a profile. Their cap on rounds is higher, because the measured
// sessions are one turn with thousands of rounds.
func rulesOf(profile string) (kernel.Rules, error) {
	p, problems := policy.Load(policy.Layer{Name: "bench", Data: []byte("version: 1\nprofile: " + profile + "\nmaxIterations: 10000\n")})
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	c, err := catalog.Shipped()
	return kernel.NewRules(p, c), err
}

// snapshotFrom makes the monitor write a snapshot of a session after 64 facts. It is a quarter of
// that number because most of these sessions only have calls, and a session that has only calls
// gets its snapshot four times later than one with results.
const snapshotFrom = 16

// newMonitor returns a monitor as the daemon makes one, but without anyone to notify.
func newMonitor(j journal.Journal, rules kernel.Rules, key provenance.Key, now func() time.Time, observe func(monitor.Observation)) (*monitor.Monitor, error) {
	return monitor.New(configured(j, rules, key, now, observe))
}

func configured(j journal.Journal, rules kernel.Rules, key provenance.Key, now func() time.Time, observe func(monitor.Observation)) monitor.Config {
	return monitor.Config{
		Journal:   j,
		Rules:     func() kernel.Rules { return rules },
		Key:       func(string) (provenance.Key, error) { return key, nil },
		Now:       now,
		NewCode:   func() string { return rand.Text()[:8] },
		NewTicket: func() floodmark.TicketID { return floodmark.TicketID(rand.Text()) },
		Observe:   observe,
		Limits:    monitor.Limits{SnapshotFrom: snapshotFrom},
	}
}

// slowLife returns a clock on which events are a minute apart, because a session may ask a person
// only so often in an hour, and these sessions ask about a quarter of their calls.
func slowLife() func() time.Time {
	began, events := time.Now(), atomic.Int64{}
	return func() time.Time { return began.Add(time.Duration(events.Add(1)) * time.Minute) }
}

// A recorder is a journal in memory that remembers what was appended.
type recorder struct {
	journal.Journal
	batches []journal.Batch
}

func (r *recorder) Append(ctx context.Context, b journal.Batch) error {
	if err := r.Journal.Append(ctx, b); err != nil {
		return err
	}
	r.batches = append(r.batches, b)
	return nil
}

// record lets a monitor judge a session with so many calls, and returns the batch that each
// event wrote.
func (m *mix) record(ctx context.Context, rules kernel.Rules, key provenance.Key, id floodmark.SessionID, calls int) ([]journal.Batch, error) {
	r := &recorder{Journal: journal.NewMemory()}
	judge, err := newMonitor(r, rules, key, slowLife(), nil)
	if err != nil {
		return nil, err
	}
	defer judge.Close()
	events := m.opening(id)
	for k := range calls {
		events = append(events, m.question(id, k))
	}
	for _, ev := range events {
		reply, err := judge.Handle(ctx, "", ev)
		if err := answered(ev, reply, err); err != nil {
			return nil, fmt.Errorf("live through a session: %s: %w", ev.Point, err)
		}
	}
	if len(r.batches) != len(events) {
		return nil, fmt.Errorf("live through a session: %d batches for %d events", len(r.batches), len(events))
	}
	return r.batches, nil
}

// merged joins the batches of one session into few. A batch ends where one of the given batches
// has a snapshot, because a snapshot shows the session after the last entry of its batch.
func merged(batches []journal.Batch) []journal.Batch {
	var out []journal.Batch
	open := false
	for _, b := range batches {
		r := b.Records[0]
		if !open {
			out = append(out, journal.Batch{Records: []journal.Record{{Session: r.Session, After: r.After}}})
		}
		last := &out[len(out)-1]
		last.Records[0].Entries = append(last.Records[0].Entries, r.Entries...)
		last.Records[0].Snapshot = r.Snapshot
		last.Contents = append(last.Contents, b.Contents...)
		open = len(r.Snapshot) == 0
	}
	return out
}
