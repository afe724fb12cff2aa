package contain

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ask/lasting"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A house is a monitor with a journal in memory, a temporary home and a [Door].
type house struct {
	*testing.T
	home, project string
	journal       *journal.Memory
	monitor       *monitor.Monitor
	rules         kernel.Rules
	disk          *workspace.Disk
	cfg           Config
	door          *Door
	proved        bool
	now           time.Time
	calls         int
	session       floodmark.SessionID // if empty, the constant session is used
	// spec changes what a box is made of, if not nil.
	spec func(*box.Spec) error
}

const session = floodmark.SessionID("claude-code/s")

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// ownHome makes a folder whose files are treated as the owner's. Files in /tmp are not.
func ownHome(t *testing.T) string {
	t.Helper()
	base, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(base, ".fm-contain-") //nolint:usetesting // the test's own folder is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return home
}

func newHouse(t *testing.T) *house { return newHouseIn(t, t.TempDir()) }

func newHouseIn(t *testing.T, home string) *house {
	t.Helper()
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	p, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\n")})
	if problems.Failed() {
		t.Fatal(problems)
	}
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	h := &house{
		T: t, home: home, project: filepath.Join(home, "app"), journal: journal.NewMemory(), rules: kernel.NewRules(p, c),
		disk: workspace.New(workspace.Options{Home: home}), proved: true, now: noon(),
	}
	h.write("app/main.go", "package main\n")
	h.write("app/.env", "KEY=1\n")
	h.write(".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.org\n")
	h.start()
	h.low()
	return h
}

func (h *house) write(name, text string) {
	h.Helper()
	p := filepath.Join(h.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		h.Fatal(err)
	}
}

func (h *house) tickets() string { return filepath.Join(h.home, "tickets") }

// start starts a new monitor over the same journal, as after a kill.
func (h *house) start() {
	h.Helper()
	m, err := monitor.New(monitor.Config{
		Journal: h.journal, Disk: h.disk, Rules: func() kernel.Rules { return h.rules }, Now: func() time.Time { return h.now },
		Key:     func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		NewCode: func() string { return "12345678" }, NewTicket: func() floodmark.TicketID { h.calls++; return floodmark.TicketID(fmt.Sprint("t", h.calls)) },
	})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = m.Close() })
	h.monitor = m
	desk, err := boxticket.NewDesk(h.tickets(), os.Getuid(), "test", rand.Reader)
	if err != nil {
		h.Fatal(err)
	}
	machine := Machine{
		View: m.View, Rules: func(journal.Session, floodmark.SessionID) kernel.Rules { return h.rules }, Disk: h.disk,
		Paths: config.Paths{Home: h.home},
	}
	h.cfg = Config{
		Hooks: m, Desk: desk, Proved: func(context.Context, string) bool { return h.proved }, Fell: fell(h.journal),
		Edits: machine.edited, Records: &Records{Journal: h.journal, View: m.View, Files: m.OnFiles}, Program: "/opt/floodmark-box", Shell: "/bin/sh", Note: func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error {
			return m.Note(ctx, s, seen)
		}, Now: func() time.Time { return h.now },
		Spec: func(ctx context.Context, s journal.Session) (*box.Spec, error) {
			spec, err := machine.spec(ctx, s, shared(filepath.Join(h.home, "boxes")))
			if err == nil && h.spec != nil {
				err = h.spec(spec)
			}
			return spec, err
		},
	}
	h.cfg.Hooks = &lasting.Door{Hooks: m, File: filepath.Join(h.home, "hosts.json"), View: m.View, Resolve: h.disk.Resolve, Now: h.cfg.Now}
	if h.door, err = New(h.cfg); err != nil {
		h.Fatal(err)
	}
}

// low lets the session read a stranger's text.
func (h *house) low() {
	h.Helper()
	h.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
	h.tell(hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}, Text: "Read https://news.example/tips and test the program"})
	fetch := hook.Call{ID: "fetch", Name: "WebFetch", Args: json.RawMessage(`{"url":"https://news.example/tips","prompt":"tips"}`)}
	h.tell(hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	h.tell(hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: "Run the tests often."}})
}

func (h *house) tell(ev hook.Event) hook.Reply {
	h.Helper()
	ev.Session, ev.Agent = cmp.Or(h.session, session), cmp.Or(ev.Agent, "claude-code")
	reply, err := h.door.Handle(h.Context(), "", ev)
	if err != nil {
		h.Fatal(err)
	}
	if reply.Decision.Contained() && reply.Command == "" {
		h.Fatalf("a reply without its box: %+v", reply)
	}
	return reply
}

func bash(id, command string, more ...string) hook.Call {
	args, _ := json.Marshal(command) // a string always can
	return hook.Call{ID: floodmark.CallID(id), Name: "Bash", Args: json.RawMessage(`{"command":` + string(args) + strings.Join(more, "") + `}`)}
}

func (h *house) before(c hook.Call) hook.Reply {
	h.Helper()
	return h.tell(hook.Event{Point: hook.BeforeToolCall, Call: c})
}

func (h *house) after(c hook.Call) hook.Reply {
	h.Helper()
	return h.tell(hook.Event{Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "ok"}})
}

// words splits a command line as a shell does.
func (h *house) words(line string) []string {
	h.Helper()
	var parts []*syntax.Word
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(line)) {
		if err != nil {
			h.Fatal(err)
		}
		parts = append(parts, w)
	}
	list, err := expand.Fields(nil, parts...)
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// redeem takes the ticket of a command line as floodmark-box does.
func (h *house) redeem(line string) (*boxticket.Redeemed, error) {
	h.Helper()
	words := h.words(line)
	if len(words) < 5 || words[0] != "/opt/floodmark-box" || words[1] != "--ticket" || words[3] != "--" {
		h.Fatalf("%q", words)
	}
	return boxticket.Redeem(h.tickets(), os.Getuid(), words[2], words[4:], h.now)
}

// run plays a box that ran its command to the end.
func (h *house) run(line string) *box.Spec {
	h.Helper()
	r, err := h.redeem(line)
	if err != nil {
		h.Fatal(err)
	}
	defer r.Close()
	if err := r.Report(boxticket.Outcome{Stage: boxticket.StageEnded}); err != nil {
		h.Fatal(err)
	}
	return r.Spec
}

func (h *house) incidents() (kinds []string) {
	h.Helper()
	for e, err := range h.journal.Read(h.Context(), journal.Session{ID: session}, 0) {
		if err != nil {
			h.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			h.Fatal(err)
		}
		if seen, is := f.(floodmark.IncidentSeen); is {
			kinds = append(kinds, seen.Kind)
		}
	}
	return kinds
}

func (h *house) wantIncidents(want ...string) {
	h.Helper()
	if got := h.incidents(); strings.Join(got, " ") != strings.Join(want, " ") {
		h.Errorf("incidents %q, want %q", got, want)
	}
}

// asked fails the test unless a person is asked about a call.
func (h *house) asked(c hook.Call) {
	h.Helper()
	if r := h.before(c); r.Decision.Verdict != floodmark.Confirm || r.Command != "" {
		h.Errorf("%+v", r)
	}
}
