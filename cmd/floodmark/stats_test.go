package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/wire"
)

// A past is a made-up week with an agent, recorded in a real journal.
type past struct {
	t     *testing.T
	dir   string
	now   time.Time
	store *sqlitejournal.Journal
	*monitor.Monitor
	tickets int
	text    string // the policy
}

func newPast(t *testing.T, text string) *past {
	t.Helper()
	p := &past{t: t, dir: t.TempDir(), now: fixedNow().Add(-72 * time.Hour), text: text}
	var err error
	if p.store, err = sqlitejournal.Open(t.Context(), filepath.Join(p.dir, "journal.db"), sqlitejournal.Options{}); err != nil {
		t.Fatal(err)
	}
	var layers []policy.Layer
	if text != "" {
		layers = append(layers, policy.Layer{Name: "policy.yaml", Data: []byte(text)})
	}
	loaded, problems := policy.Load(layers...)
	shipped, err := shippedOnce()
	if problems.Failed() || err != nil {
		t.Fatal(problems, err)
	}
	rules := kernel.NewRules(loaded, catalog.New(loaded.Tools(), shipped))
	p.Monitor, err = monitor.New(monitor.Config{
		Journal: p.store, Rules: func() kernel.Rules { return rules }, Key: func(string) (provenance.Key, error) { return provenance.Key{3}, nil },
		Now: func() time.Time { return p.now }, NewCode: func() string { return "c0dec0de" },
		NewTicket: func() floodmark.TicketID { p.tickets++; return floodmark.TicketID(fmt.Sprint("t", p.tickets)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *past) tell(s string, ev hook.Event) hook.Reply {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	ev.Agent, ev.Session = "openclaw", floodmark.SessionID(s)
	r, err := p.Handle(p.t.Context(), "", ev)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// reads begins a session in which the owner lets the agent read a page.
func (p *past) reads(s, url, text string) {
	p.t.Helper()
	p.tell(s, hook.Event{Point: hook.SessionStart, Project: "/home/anna/work", Home: "/home/anna"})
	p.says(s, "Read "+url+" and keep what is new")
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"` + url + `"}`)}
	p.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	p.tell(s, hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: text}})
}

func (p *past) says(s, text string) {
	p.t.Helper()
	p.tell(s, hook.Event{Point: hook.MessageReceived, Text: text, Typed: true, Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "anna", IsOwner: true}})
}

func (p *past) call(s, id, server, tool, args string) hook.Reply {
	p.t.Helper()
	return p.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(id), Server: server, Name: tool, Args: []byte(args)}})
}

// answers answers a question after some time.
func (p *past) answers(s string, r hook.Reply, v approval.Verb, after time.Duration) {
	p.t.Helper()
	if r.Ticket == "" {
		p.t.Fatalf("nobody was asked: %+v", r.Decision)
	}
	p.now = p.now.Add(after)
	if _, err := p.Answer(p.t.Context(), journal.Session{ID: floodmark.SessionID(s)}, approval.Command{Verb: v, Tool: approval.All, Ticket: r.Ticket, By: "anna", Channel: "owner.sock"}); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a command on the journal and returns what it printed.
func (p *past) run(wantCode int, args ...string) string {
	p.t.Helper()
	var out bytes.Buffer
	for h, err := range p.store.Recent(p.t.Context(), "") {
		if err != nil {
			p.t.Fatal(err)
		}
		for e, err := range p.store.Read(p.t.Context(), h.Session, 0) {
			if err != nil {
				p.t.Fatal(err)
			}
			line, err := protojson.Marshal(wire.FromEntry(h.Session, e))
			if err != nil {
				p.t.Fatal(err)
			}
			out.Write(append(line, '\n'))
		}
	}
	config := filepath.Join(p.dir, "config")
	for name, data := range map[string][]byte{filepath.Join(p.dir, "journal.jsonl"): out.Bytes(), filepath.Join(config, "policy.yaml"): []byte(p.text)} {
		if len(data) == 0 {
			continue // without a file the shipped policy is used
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	c := &cli.Console{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Dir: p.dir, Build: testBuild(), Shipped: shippedOnce, Now: fixedNow}
	if code := run(context.Background(), c, append(args, "--dir", p.dir, "--from", filepath.Join(p.dir, "journal.jsonl"))); code != wantCode {
		p.t.Fatalf("exit code %d\n%s\n%s", code, &stdout, &stderr)
	}
	return stdout.String()
}

// kept lets the agent ask to write a note, in a session that has read a page.
func (p *past) kept(s, id, text string) hook.Reply {
	p.t.Helper()
	return p.call(s, id, "", "write", `{"path":"/home/anna/work/notes.md","content":"`+text+`"}`)
}

const newsPage = "https://docs.news.example/today"

// An auditor without settings does not answer. Missing answers are counted by tool.
func TestStatsOfTheAuditor(t *testing.T) {
	p := newPast(t, "version: 1\nauditor: {on: true}\n")
	p.reads("s1", newsPage, "Nothing is new.")
	p.kept("s1", "w1", "one")
	const want = "What the auditor answered\n  asked 1 times, in 100 % of all tasks: 0 block, 0 unsure, 0 allow, 1 without\n    an answer\n  write (write): 0 block, 0 unsure, 0 allow, 1 without an answer\n"
	if got := p.run(0, "journal", "stats"); !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	if got := p.run(0, "journal", "stats", "--output", "json"); !json.Valid([]byte(got)) || !strings.Contains(got, `"auditor"`) {
		t.Errorf("as JSON: %s", got)
	}
}

// The journal of this test contains everything that is counted.
func TestStats(t *testing.T) {
	p := newPast(t, "version: 1\n")
	p.reads("s1", newsPage, "Nothing is new.")
	first := p.kept("s1", "w1", "one")
	p.kept("s1", "w2", "one") // joins
	p.answers("s1", first, approval.Approve, 18*time.Second)
	p.kept("s1", "w3", "one") // the call that was approved
	p.answers("s1", p.call("s1", "x1", "", "exec", `{"command":"make"}`), approval.Deny, time.Second)
	p.tell("s1", hook.Event{Point: hook.BeforeResponseEmit, Text: "No.", Audience: hook.ToOwner})
	p.says("s1", "And now?")
	p.call("s1", "x2", "", "exec", `{"command":"make"}`) // again, without an answer
	p.reads("s2", newsPage, "Nothing is new.")
	ask := p.kept("s2", "w1", "two")
	p.now = p.now.Add(20 * time.Second)
	if _, err := p.Answer(t.Context(), journal.Session{ID: "s2"}, approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ask.Ticket, For: time.Hour, By: "anna"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if got := p.kept("s2", fmt.Sprint("w", 2+i), "two").Decision.Verdict; got != floodmark.Allow {
			t.Fatalf("%v", got)
		}
	}
	if _, err := p.Pause(t.Context(), journal.Session{}, time.Minute, "anna", "owner.sock"); err != nil {
		t.Fatal(err)
	}
	p.call("s2", "x1", "", "exec", `{"command":"make"}`)
	var got records.StatsReport
	if err := json.Unmarshal([]byte(p.run(0, "journal", "stats", "-o", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Sessions != 2 || got.Tasks != 3 || got.Questions != 4 || got.Repeats.Asked != 1 || got.Repeats.Joined != 1 || got.Paused != 1 {
		t.Errorf("%+v", got.Figures)
	}
	shares := map[string]int{}
	for _, s := range got.Resolved {
		shares[s.By] = s.Count
	}
	if shares["person"] != 3 || shares["expired"] != 1 || shares["grant"] != 2 || shares["waiting"] != 0 {
		t.Errorf("%+v", got.Resolved)
	}
	if a := got.Answers; a.Yes != 2 || a.No != 1 || a.Unread != 1 || a.MedianSeconds != 19 || a.P90Seconds != 20 {
		t.Errorf("%+v", a)
	}
	if len(got.Rules) != 2 || got.Rules[0].Questions != 2 || got.Rules[0].Line == nil {
		t.Errorf("%+v", got.Rules)
	}
	if text := p.run(0, "journal", "stats", "--since", "1h"); !strings.Contains(text, "questions   0") {
		t.Error(text)
	}
}

// What another policy would have cost.
func TestStatsOfAnotherPolicy(t *testing.T) {
	p := newPast(t, "version: 1\n")
	p.reads("s1", newsPage, "Nothing is new.")
	p.kept("s1", "w1", "one")
	file := filepath.Join(p.dir, "new.yaml")
	if err := os.WriteFile(file, []byte("version: 1\ntable: {write: {untrusted: allow}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got records.StatsReport
	if err := json.Unmarshal([]byte(p.run(0, "journal", "stats", "--policy", file, "-o", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if c := got.Policy; c == nil || c.Was != 1 || c.Would != 0 || c.Changed != 1 || c.Looser != 1 {
		t.Errorf("%+v", got.Policy)
	}
}
