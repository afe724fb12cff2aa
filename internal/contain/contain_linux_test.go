package contain

import (
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
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/boxticket"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A house is a monitor in memory, over a disk of its own, with a door in front of it.
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
	// spec changes what a box is made of, if not nil.
	spec func(*box.Spec) error
}

const session = floodmark.SessionID("claude-code/s")

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

func newHouse(t *testing.T) *house {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
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

// start starts a monitor over the journal, as after the one before was killed.
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
		Program: "/opt/floodmark-box", Shell: "/bin/sh", Note: m.Note, Now: func() time.Time { return h.now },
		Spec: func(ctx context.Context, s journal.Session) (*box.Spec, error) {
			spec, err := machine.spec(ctx, s, shared(filepath.Join(h.home, "boxes")))
			if err == nil && h.spec != nil {
				err = h.spec(spec)
			}
			return spec, err
		},
	}
	if h.door, err = New(h.cfg); err != nil {
		h.Fatal(err)
	}
}

// low lets the session read what a stranger wrote.
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
	ev.Session, ev.Agent = session, "claude-code"
	reply, err := h.door.Handle(h.Context(), "", ev)
	if err != nil {
		h.Fatal(err)
	}
	if boxed(reply) && reply.Command == "" {
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

// words takes a command line apart as a shell does.
func (h *house) words(line string) []string {
	h.Helper()
	var call *syntax.CallExpr
	err := syntax.NewParser().Words(strings.NewReader(line), func(w *syntax.Word) bool {
		if call == nil {
			call = &syntax.CallExpr{}
		}
		call.Args = append(call.Args, w)
		return true
	})
	if err != nil {
		h.Fatal(err)
	}
	list, err := expand.Fields(nil, call.Args...)
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

// asked fails unless a call is a question.
func (h *house) asked(c hook.Call) {
	h.Helper()
	if r := h.before(c); r.Decision.Verdict != floodmark.Confirm || r.Command != "" {
		h.Errorf("%+v", r)
	}
}

func TestACommandRunsInABox(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "go test ./... && echo 'it''s'")
	r := h.before(c)
	if r.Decision.Verdict != floodmark.Allow || r.Decision.Reach != floodmark.Boxed {
		t.Fatalf("%+v", r)
	}
	if words := h.words(r.Command); words[len(words)-1] != "go test ./... && echo 'it''s'" || words[4] != "/bin/sh" || words[5] != "-c" {
		t.Errorf("%q", words)
	}
	spec := h.run(r.Command)
	if spec.Project != h.project || spec.Home != h.home || len(spec.Hidden) != 1 || spec.Hidden[0] != ".env" || spec.Author != "Ada" || spec.Mail != "ada@example.org" {
		t.Errorf("%+v", spec)
	}
	if !strings.HasPrefix(spec.Temp, h.home+"/boxes/") || !strings.HasPrefix(spec.Cache, h.home+"/boxes/") || spec.ReadOnly || len(spec.Keep.Guarded) == 0 {
		t.Errorf("%+v", spec)
	}
	if r := h.after(c); r.Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v", r)
	}
	h.wantIncidents()
	if left, err := os.ReadDir(h.tickets()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestWithoutAProofACommandIsAQuestion(t *testing.T) {
	h := newHouse(t)
	h.proved = false
	h.asked(bash("1", "go test ./..."))
	h.proved = true
	for name, c := range map[string]hook.Call{
		"another tool":     {ID: "2", Name: "BashOutput", Args: json.RawMessage(`{"command":"go test"}`)},
		"another argument": bash("3", "go test ./...", `,"shell":"zsh"`),
		"too long":         bash("4", "go test "+strings.Repeat("'", maxLine/2)),
	} {
		if r := h.before(c); boxed(r) || r.Command != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	// Nobody but this door says that a call can be boxed.
	if r := h.tell(hook.Event{Point: hook.BeforeToolCall, Boxes: true, Call: hook.Call{ID: "5", Name: "BashOutput", Args: json.RawMessage(`{}`)}}); boxed(r) {
		t.Errorf("%+v", r)
	}
	h.cfg.Desk = nil
	var err error
	if h.door, err = New(h.cfg); err != nil {
		t.Fatal(err)
	}
	if r := h.tell(hook.Event{Point: hook.BeforeToolCall, Boxes: true, Call: bash("6", "go test ./...")}); r.Decision.Verdict != floodmark.Confirm {
		t.Errorf("without a desk: %+v", r)
	}
}

// An agent that runs its own command, as Codex once did, is found out by its result.
func TestACommandThatRanWithoutItsBox(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "go test ./...")
	given := h.before(c)
	r := h.after(c)
	if r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "no box ran it") {
		t.Errorf("the result is not withheld: %+v", r)
	}
	h.wantIncidents(NotUsed)
	if _, err := h.redeem(given.Command); err == nil {
		t.Error("the ticket can be taken afterwards")
	}
	h.asked(bash("2", "go test ./..."))
	h.start()
	h.asked(bash("3", "go vet ./..."))
	// A sub-agent of such a session gets no box either.
	child := floodmark.SessionID("claude-code/child")
	h.tell(hook.Event{Point: hook.SubagentSpawned, Child: child, Text: "Test it."})
	ev := hook.Event{Point: hook.BeforeToolCall, Session: child, Agent: "claude-code", Call: bash("4", "go test ./...")}
	if r, err := h.door.Handle(t.Context(), "", ev); err != nil || r.Decision.Verdict != floodmark.Confirm {
		t.Errorf("%+v, %v", r, err)
	}
}

// The monitor is killed while a command that had to run in a box runs without one.
func TestARestartForgetsNoTicket(t *testing.T) {
	h := newHouse(t)
	outside, inside, late := bash("1", "go test ./..."), bash("2", "go vet ./..."), bash("3", "go build ./...")
	h.before(outside)
	running, err := h.redeem(h.before(inside).Command)
	if err != nil {
		t.Fatal(err)
	}
	waits := h.before(late).Command
	h.start()
	if running.Keep() == nil {
		t.Error("a box that nobody knows of any more moves files in")
	}
	running.Close()
	h.run(waits)
	h.after(inside)
	h.after(late)
	h.wantIncidents()
	if r := h.after(outside); r.Decision.Verdict != floodmark.Restrict {
		t.Errorf("%+v", r)
	}
	h.wantIncidents(NotUsed)
}

func TestTicketsThatAreTampered(t *testing.T) {
	for name, play := range map[string]func(h *house, line string) error{
		"replayed": func(h *house, line string) error { h.run(line); _, err := h.redeem(line); return err },
		"late":     func(h *house, line string) error { h.now = h.now.Add(life); _, err := h.redeem(line); return err },
		"other command": func(h *house, line string) error {
			_, err := h.redeem(strings.Replace(line, "./...", "./x", 1))
			return err
		},
		"swapped": func(h *house, line string) error {
			other := h.words(h.before(bash("other", "go vet ./...")).Command)[2]
			_, err := h.redeem(strings.Replace(line, h.words(line)[2], other, 1))
			return err
		},
		"forged": func(h *house, line string) error {
			_, err := h.redeem(strings.Replace(line, h.words(line)[2], strings.Repeat("0a", 20), 1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			c := bash("1", "go test ./...")
			if err := play(h, h.before(c).Command); err == nil {
				t.Error("it was taken")
			}
			h.after(c)
			if name == "replayed" || name == "late" || name == "other command" {
				h.wantIncidents() // nothing ran, and the box said so
			} else {
				h.wantIncidents(NotUsed) // nobody took the one of this call
			}
		})
	}
}

// What a box says of itself counts only if that box said it.
func TestAForgedOutcome(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "go test ./...")
	line := h.before(c).Command
	h.run(line)
	name := filepath.Join(h.tickets(), h.words(line)[2]+".outcome")
	if err := os.WriteFile(name, []byte("0\n{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.after(c); r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "cannot be read") {
		t.Errorf("%+v", r)
	}
	h.wantIncidents(NotUsed)
}

// Files are not moved in behind the monitor's back.
func TestABoxThatOutlivesItsCall(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "go test ./...")
	r, err := h.redeem(h.before(c).Command)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	h.after(c)
	if r.Keep() == nil {
		t.Error("what it wrote is kept")
	}
	h.wantIncidents()
}

// A result waits while its box moves files in, as long as the agent does.
func TestAResultWaitsForItsBox(t *testing.T) {
	h := newHouse(t)
	c := bash("1", "go test ./...")
	r, err := h.redeem(h.before(c).Command)
	if err == nil {
		err = r.Keep()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ev := hook.Event{Point: hook.AfterToolCall, Session: session, Agent: "claude-code", Call: c}
	if reply, err := h.door.Handle(ctx, "", ev); err == nil || reply.Decision.Verdict != floodmark.Restrict {
		t.Errorf("%+v, %v", reply, err)
	}
	if err := r.Report(boxticket.Outcome{Stage: boxticket.StageEnded}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if reply := h.after(c); reply.Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v", reply)
	}
	h.wantIncidents()
}

// Where no box can be made the agent is told why, and a person is asked next time.
func TestNoBoxCanBeMade(t *testing.T) {
	h := newHouse(t)
	h.spec = func(*box.Spec) error { return errors.New("the project is too large") }
	if r := h.before(bash("1", "go test ./...")); r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "the project is too large") {
		t.Errorf("%+v", r)
	}
	h.asked(bash("2", "go test ./..."))
	h.now, h.spec = h.now.Add(unfitFor), nil
	h.run(h.before(bash("3", "go vet ./...")).Command)
}

// Two calls of one name, as those of agents that name none, have a ticket each.
func TestTheSameCallTwiceAtOnce(t *testing.T) {
	h := newHouse(t)
	c := bash("made", "go test ./...")
	first, second := h.before(c).Command, h.before(c).Command
	h.run(second)
	if r := h.after(c); r.Decision.Verdict != floodmark.Allow {
		t.Errorf("%+v", r)
	}
	h.run(first)
	h.after(c)
	h.wantIncidents()
}

func TestAStaleCommandIsRefused(t *testing.T) {
	h := newHouse(t)
	given := h.before(bash("1", "go test ./...")).Command
	for i, line := range []string{given, "floodmark-box --ticket x -- true", `"/opt/floodmark-box"  "--ticket" x`} {
		c := bash(fmt.Sprint("again", i), line)
		if r := h.before(c); r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "plain command") || r.Ticket != "" {
			t.Errorf("%q: %+v", line, r)
		}
		h.tell(hook.Event{Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "refused", Error: true}})
	}
	h.wantIncidents()
	h.before(bash("2", "grep -r 'floodmark-box --ticket' ."))
	ran := bash("ran", given)
	h.before(ran)
	h.after(ran)
	h.wantIncidents("unmediated-call")
}

func TestWhatRunsInTheBackground(t *testing.T) {
	for args, want := range map[string]bool{
		`{"run_in_background":true}`: true, `{"is_background":true}`: true, `{"background":true}`: true, `{"detach":true}`: true,
		`{"background":false}`: false, `{"background":"yes"}`: false, `{}`: false, `[`: false,
	} {
		if got := inBackground(hook.Call{Args: json.RawMessage(args)}); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
	h := newHouse(t)
	c := bash("1", "npm start", `,"run_in_background":true`)
	r, err := h.redeem(h.before(c).Command)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Spec.ReadOnly || r.Spec.Temp != "" || r.Spec.Cache != "" {
		t.Errorf("%+v", r.Spec)
	}
	h.after(c)
	h.wantIncidents()
}

// Codex's sandbox lets nothing be written but the project and /tmp.
func TestWhatBoxesOfASandboxedAgentShare(t *testing.T) {
	h := newHouse(t)
	_, line, err := h.door.ticket(t.Context(), journal.Session{ID: session}, hook.Event{Agent: "codex", Call: bash("1", "true")}, "true")
	if err != nil {
		t.Fatal(err)
	}
	spec := h.run(line)
	if filepath.Dir(filepath.Dir(spec.Temp)) != h.tickets() || filepath.Dir(spec.Cache) != filepath.Dir(spec.Temp) {
		t.Errorf("%+v", spec)
	}
}

// hooks are any answers.
type hooks func(ev hook.Event) (hook.Reply, error)

func (f hooks) Handle(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) { return f(ev) }

var _ agents.Hooks = hooks(nil)

// A reply that wants a box and has none never leaves.
func TestNoReplyWithoutItsBox(t *testing.T) {
	h := newHouse(t)
	all := hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}}
	waits := all
	waits.Decision.Verifiers = []string{"gate"}
	ends := all
	ends.BlockTurn = true
	for _, r := range []hook.Reply{all, waits, ends} {
		h.cfg.Hooks = hooks(func(hook.Event) (hook.Reply, error) { return r, nil })
		for _, proved := range []bool{true, false} {
			for _, desk := range []*boxticket.Desk{h.cfg.Desk, nil} {
				cfg := h.cfg
				cfg.Desk, h.proved = desk, proved
				door, err := New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				h.door = door
				for _, p := range hook.Points() {
					h.tell(hook.Event{Point: p, Call: bash("1", "go test ./...")})
				}
			}
		}
	}
}

func TestSharedFoldersAreRemoved(t *testing.T) {
	h := newHouse(t)
	f := shared(filepath.Join(h.home, "boxes"))
	one, other := journal.Session{ID: "one"}, journal.Session{ID: "other"}
	temp, _ := f.of(one)
	kept, cache := f.of(other)
	h.write("outside/x", "")
	for _, p := range []string{filepath.Join(temp, "closed", "in"), kept, cache, filepath.Join(string(f), "notes")} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(h.home, "outside"), filepath.Join(temp, "link")), os.Chmod(filepath.Join(temp, "closed"), 0)); err != nil {
		t.Fatal(err)
	}
	f.forget(one)
	f.sweep(time.Unix(0, 0))
	if _, err := os.Stat(temp); err == nil {
		t.Error("it is still there")
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	f.sweep(time.Now().Add(unused + time.Hour)) //nolint:forbidigo // the file system has the time of day
	if _, err := os.Stat(kept); err == nil {
		t.Error("it is still there")
	}
	for _, p := range []string{filepath.Join(string(f), "notes"), filepath.Join(h.home, "outside", "x")} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}

func TestProofsAreLookedAtNowAndThen(t *testing.T) {
	at, looks, proved := noon(), 0, true
	p := &proofs{now: func() time.Time { return at }, look: func(context.Context, string) bool { looks++; return proved }}
	for range 3 {
		if !p.proved(t.Context(), "pi") {
			t.Error("not proved")
		}
	}
	proved = false
	at = at.Add(fresh)
	if p.proved(t.Context(), "pi/sub") || looks != 2 {
		t.Errorf("%d looks", looks)
	}
}
