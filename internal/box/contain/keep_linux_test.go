package contain

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// keeps makes the house keep the files that boxes replace.
func (h *house) keeps() *undo.Store {
	h.Helper()
	s := &undo.Store{Folder: filepath.Join(h.home, "undo"), Quota: undo.Quota, Now: func() time.Time { return h.now }, Lock: h.cfg.Desk.Lock}
	h.cfg.Undo = s
	var err error
	if h.door, err = New(h.cfg); err != nil {
		h.Fatal(err)
	}
	return s
}

// play plays a box that writes files and moves them in, or is killed before it says so.
func (h *house) play(line string, files map[string]string, killed bool) {
	h.Helper()
	r, err := h.redeem(line)
	if err != nil {
		h.Fatal(err)
	}
	defer r.Close()
	w := r.Spec.Writes()
	for p, text := range files {
		at := filepath.Join(r.Spec.Folder, "written", p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			h.Fatal(err)
		}
	}
	list, err := w.Changes()
	if err != nil {
		h.Fatal(err)
	}
	w.Digest(list)
	if err := errors.Join(r.Keep(), r.Report(boxticket.Outcome{Stage: boxticket.StageMoving})); err != nil {
		h.Fatal(err)
	}
	if killed {
		w.At = func(point string) {
			if point == "planned" {
				panic("killed")
			}
		}
		defer func() { _ = recover() }()
	}
	if err := errors.Join(w.MoveIn(list), r.Report(boxticket.Outcome{Stage: boxticket.StageEnded})); err != nil {
		h.Fatal(err)
	}
}

// What a box replaces is kept for its call, also if the box is killed in the middle, and
// can be given back. What was changed since is not.
func TestWhatABoxReplacesIsKept(t *testing.T) {
	for _, killed := range []bool{false, true} {
		h := newHouse(t)
		s := h.keeps()
		c := bash("1", "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 go generate ./...")
		h.play(h.before(c).Command, map[string]string{"main.go": "package other\n", "new.go": "package main\n"}, killed)
		h.after(c)
		h.wantIncidents()
		list := s.List("")
		if len(list) != 1 || list[0].Call != "1" || list[0].Session != string(session) || list[0].Files != 2 || list[0].Project != h.project {
			t.Fatalf("%+v", list)
		}
		if strings.Contains(list[0].Command, "0123456789abcdefghij") || !strings.Contains(list[0].Command, "go generate") {
			t.Errorf("%q", list[0].Command)
		}
		h.write("app/new.go", "package edited\n")
		r, err := s.Back(list[0].ID, undo.How{})
		if err != nil || r.Done || len(r.Refused) != 1 || r.Refused[0].Path != "new.go" {
			t.Fatalf("%+v, %v", r, err)
		}
		if data, _ := os.ReadFile(filepath.Join(h.project, "main.go")); string(data) != "package other\n" {
			t.Errorf("something was touched: %q", data)
		}
		if r, err = s.Back(list[0].ID, undo.How{Only: true, Dry: true}); err != nil || r.Done || len(r.Given) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		if r, err = s.Back(list[0].ID, undo.How{Only: true}); err != nil || !r.Done {
			t.Fatalf("%+v, %v", r, err)
		}
		if data, _ := os.ReadFile(filepath.Join(h.project, "main.go")); string(data) != "package main\n" {
			t.Errorf("%q", data)
		}
		if list = s.List(""); len(list) != 1 || list[0].Files != 1 {
			t.Errorf("%+v", list)
		}
		h.write("app/new.go", "package main\n")
		if r, err = s.Back(list[0].ID, undo.How{}); err != nil || !r.Done || len(s.List("")) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
}

// A box that wrote nothing, or whose ticket was never taken, leaves no folder in the store.
func TestRoomsAreLeft(t *testing.T) {
	h := newHouse(t)
	s := h.keeps()
	for _, ran := range []bool{true, false} {
		c := bash("1", "go test ./...")
		given := h.before(c)
		if ran {
			h.run(given.Command)
		}
		h.after(c)
		if left, _ := os.ReadDir(filepath.Join(s.Folder, "rooms")); len(left) > 0 || len(s.List("")) > 0 {
			t.Errorf("%v is left", left)
		}
		if !ran {
			break
		}
	}
}

// Kept files are removed after a week. If there are too many, the oldest are removed first.
func TestKeptWithinAQuota(t *testing.T) {
	h := newHouse(t)
	s := h.keeps()
	s.Quota = 2000
	for i, text := range []string{"a", "b", "c", "d"} {
		h.now = h.now.Add(time.Minute)
		c := bash(text, "go generate ./...")
		h.play(h.before(c).Command, map[string]string{"main.go": "package " + text + "\n"}, false)
		h.after(c)
		if list := s.List(""); len(list) != min(i+1, 3) || list[0].Call != string(c.ID) {
			t.Errorf("%d: %+v", i, list)
		}
	}
	h.now = h.now.Add(time.Minute)
	h.write("app/main.go", strings.Repeat("x", 3000))
	c := bash("large", "go generate ./...")
	h.play(h.before(c).Command, map[string]string{"main.go": "package e\n"}, false)
	h.after(c)
	list := s.List("")
	if list[0].Unkept == "" {
		t.Errorf("%+v", list[0])
	}
	if _, err := s.Back(list[0].ID, undo.How{}); err == nil {
		t.Error("what is not kept is given back")
	}
	h.now = h.now.Add(8 * 24 * time.Hour)
	if err := s.Sweep(); err != nil || len(s.List("")) > 0 {
		t.Errorf("%v, %+v", err, s.List(""))
	}
}

// Files that an agent's own tools replace are kept, too.
func TestWhatAnEditReplacesIsKept(t *testing.T) {
	h := newHouse(t)
	s := h.keeps()
	edit := func(id, name, args string, do func()) []undo.About {
		c := hook.Call{ID: floodmark.CallID(id), Name: name, Args: json.RawMessage(args)}
		h.now = h.now.Add(time.Minute)
		if r := h.before(c); r.Decision.Verdict != floodmark.Allow {
			t.Fatalf("%s: %+v", id, r.Decision)
		}
		do()
		h.after(c)
		return s.List("")
	}
	main, fresh := filepath.Join(h.project, "main.go"), filepath.Join(h.project, "new.go")
	list := edit("1", "Edit", `{"file_path":"`+main+`","old_string":"main","new_string":"other"}`, func() { h.write("app/main.go", "package other\n") })
	if len(list) != 1 || list[0].Call != "1" || list[0].Files != 1 {
		t.Fatalf("%+v", list)
	}
	list = edit("2", "Write", `{"file_path":"`+fresh+`","content":"package main"}`, func() { h.write("app/new.go", "package main") })
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	for name, args := range map[string]string{
		"Edit": `{"file_path":"` + main + `","old_string":"none","new_string":"other"}`, "Read": `{"file_path":"` + main + `"}`, "Write": `{"file_path":"` + h.home + `/elsewhere.txt","content":"x"}`,
	} {
		if name == "Write" {
			h.before(hook.Call{ID: "3", Name: name, Args: json.RawMessage(args)})
			h.write("elsewhere.txt", "x")
		} else {
			list = edit("3"+name, name, args, func() {})
		}
		if len(s.List("")) != 2 {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(s.Folder, "rooms")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for _, a := range s.List("") {
		if r, err := s.Back(a.ID, undo.How{}); err != nil || !r.Done {
			t.Errorf("%+v, %v", r, err)
		}
	}
	data, err := os.ReadFile(main)
	if _, gone := os.Lstat(fresh); string(data) != "package main\n" || err != nil || !os.IsNotExist(gone) {
		t.Errorf("%q, %v, %v", data, err, gone)
	}
}

// trust returns the trust of a new session that has read a file.
func (h *house) trust(id floodmark.SessionID, name string) floodmark.Trust {
	h.Helper()
	c := hook.Call{ID: "read", Name: "Read", Args: json.RawMessage(`{"file_path":"` + filepath.Join(h.project, name) + `"}`)}
	for _, ev := range []hook.Event{
		{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home},
		{Point: hook.BeforeToolCall, Call: c},
		{Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "package main"}},
	} {
		ev.Session, ev.Agent = id, "claude-code"
		if _, err := h.door.Handle(h.Context(), "", ev); err != nil {
			h.Fatal(err)
		}
	}
	v, err := h.monitor.View(h.Context(), journal.Session{ID: id})
	if err != nil {
		h.Fatal(err)
	}
	return v.State.Mark().Trust
}

// changed returns the time of a file's last change.
func changed(t *testing.T, p string) time.Time {
	t.Helper()
	info, err := os.Lstat(p)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
}

// A restored file has the label that it had before the call, even if that was low. Only a person at
// a terminal may restore.
func TestLabelsAreGivenBack(t *testing.T) {
	h := newHouse(t)
	s := h.keeps()
	desk := &owner.Desk{Monitor: h.monitor, Journal: h.journal, Kept: s, Now: func() time.Time { return h.now }}
	h.write("app/util.go", "package main\n")
	was := h.trust("claude-code/0", "main.go")
	// Changes are searched by the disk's clock, beginning two seconds before the call.
	clock := func() time.Time { return changed(t, h.project+"/util.go").Add(2*time.Second + time.Millisecond) }
	h.now = clock()
	first := bash("1", "go generate ./...")
	h.play(h.before(first).Command, map[string]string{"util.go": "package first\n"}, false)
	h.after(first)
	h.now = clock()
	second := bash("2", "go generate ./...")
	h.play(h.before(second).Command, map[string]string{"main.go": "package second\n", "util.go": "package second\n"}, false)
	h.after(second)
	if h.trust("claude-code/a", "main.go") >= was || h.trust("claude-code/b", "util.go") >= was {
		t.Fatal("what a low session wrote is not low")
	}
	who := httpapi.Identity{Name: "owner", Channel: httpapi.OwnerSocket}
	q := &wire.UndoRequest{Session: string(session), Call: "2"}
	if _, err := desk.Undo(h.Context(), who, q); err == nil {
		t.Error("a script gives back")
	}
	if _, err := desk.Undo(httpapi.AtTerminal(h.Context()), httpapi.Identity{Name: "owner", Channel: "https"}, q); err == nil {
		t.Error("somebody elsewhere gives back")
	}
	a, err := desk.Undo(httpapi.AtTerminal(h.Context()), who, q)
	if err != nil || !a.GetDone() || len(a.GetCalls()) != 1 || len(a.GetCalls()[0].GetGiven()) != 2 {
		t.Fatalf("%v, %v", a, err)
	}
	if got := h.trust("claude-code/c", "main.go"); got != was {
		t.Errorf("main.go is %v, as nobody had written it before", got)
	}
	if got := h.trust("claude-code/d", "util.go"); got >= was {
		t.Errorf("util.go is %v, though the first call wrote it", got)
	}
	h.wantIncidents(owner.Undo, owner.Undo)
}

// A box whose working folder is beside its ticket, as in Codex's sandbox, can be undone, too,
// unless another process wrote into that folder.
func TestWhatABoxBesideItsTicketReplacesIsKept(t *testing.T) {
	for _, forged := range []string{"", "in.done", "in.old/0", "in.old/more"} {
		h := newHouse(t)
		s := h.keeps()
		s.Folder = filepath.Join(h.project, "state") // so that the store has no folder for the box
		c := bash("1", "go generate ./...")
		given := h.before(c)
		r, err := h.redeem(given.Command)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Beside() {
			t.Fatalf("%+v", r.Spec)
		}
		h.write("tickets/"+filepath.Base(r.Spec.Folder)+"/written/main.go", "package other\n")
		w := r.Spec.Writes()
		list, err := w.Changes()
		if err != nil {
			t.Fatal(err)
		}
		w.Digest(list)
		if err := errors.Join(r.Keep(), w.MoveIn(list)); err != nil {
			t.Fatal(err)
		}
		o := boxticket.Outcome{Stage: boxticket.StageEnded}
		if o.Kept, err = w.Swap().Seal(); err != nil || o.Kept == "" {
			t.Fatal(o.Kept, err)
		}
		if err := r.Report(o); err != nil {
			t.Fatal(err)
		}
		r.Close()
		if forged != "" {
			at := filepath.Join(r.Spec.Folder, forged)
			data, _ := os.ReadFile(at)
			if err := os.WriteFile(at, append(data, ' '), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h.after(c)
		if left := s.List(""); len(left) > 1 || (len(left) == 1) != (forged == "") {
			t.Fatalf("%q: %+v", forged, left)
		}
		if forged == "" {
			if r, err := s.Back(s.List("")[0].ID, undo.How{}); err != nil || !r.Done {
				t.Errorf("%+v, %v", r, err)
			}
			if data, _ := os.ReadFile(filepath.Join(h.project, "main.go")); string(data) != "package main\n" {
				t.Errorf("%q", data)
			}
		}
	}
}
