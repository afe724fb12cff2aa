package contain

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/leftover"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/wire"
)

// calm sets the clock so that only later changes in the project are found.
func (h *house) calm() {
	h.Helper()
	last := time.Time{}
	err := filepath.WalkDir(h.project, func(p string, _ fs.DirEntry, err error) error {
		if at := changed(h.T, p); err == nil && at.After(last) {
			last = at
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	h.now = last.Add(2*time.Second + time.Millisecond)
}

// boxed lets the session run a command in a box that writes files.
func (h *house) boxed(id string, files map[string]string) {
	h.Helper()
	h.calm()
	c := bash(id, "go generate ./...")
	h.play(h.before(c).Command, files, false)
	h.after(c)
}

// writes lets a session that has read nothing write a file with its agent's own tool.
func (h *house) writes(id, name, text string) {
	h.Helper()
	h.calm()
	h.session = "claude-code/good"
	defer func() { h.session = "" }()
	h.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
	args, err := json.Marshal(map[string]string{"file_path": filepath.Join(h.project, name), "content": text})
	if err != nil {
		h.Fatal(err)
	}
	c := hook.Call{ID: floodmark.CallID(id), Name: "Write", Args: args}
	if r := h.before(c); r.Decision.Verdict != floodmark.Allow {
		h.Fatalf("%+v", r.Decision)
	}
	h.write("app/"+name, text)
	h.after(c)
}

func (h *house) undoes(q *wire.UndoRequest) *wire.UndoResponse {
	h.Helper()
	desk := &owner.Desk{Monitor: h.monitor, Journal: h.journal, Kept: h.cfg.Undo, Now: func() time.Time { return h.now }}
	a, err := desk.Undo(httpapi.AtTerminal(h.Context()), httpapi.Identity{Name: "owner", Channel: httpapi.OwnerSocket}, q)
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// ends ends all records of files in the project, as «floodmark clean» does for files that are gone.
func (h *house) ends() {
	h.Helper()
	err := h.monitor.OnFiles(h.Context(), "", func(_ *kernel.State, in kernel.Input) (kernel.Output, error) {
		return leftover.Removed(nil, leftover.Below(in.Artifacts, catalog.FoldPath(h.project)), "ada"), nil
	})
	if err != nil {
		h.Fatal(err)
	}
}

// forgets removes what the store knows of calls: of about.json what sessions recorded, and for any
// other name the folder with that file.
func forgets(t *testing.T, s *undo.Store, name string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Folder, "kept", "*", name))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, p := range list {
		data, _ := os.ReadFile(p)
		i := strings.Index(string(data), `,"said":`)
		if name != "about.json" {
			err = os.RemoveAll(filepath.Dir(p))
		} else if i > 0 {
			err = os.WriteFile(p, append(data[:i:i], '}'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A restored file of a stranger is labelled as a stranger's, whatever was recorded about its path
// since.
func TestWhatComesBackKeepsItsLabel(t *testing.T) {
	for name, c := range map[string]struct {
		do            func(h *house, s *undo.Store)
		session, call string
		clean         bool
	}{
		"nothing was said of it": {func(h *house, _ *undo.Store) { h.boxed("1", map[string]string{"x.go": "package low\n"}) }, string(session), "1", true},
		"a good session wrote it anew": {func(h *house, _ *undo.Store) {
			h.boxed("1", map[string]string{"x.go": "package low\n"})
			h.writes("w", "x.go", "package good\n")
		}, "claude-code/good", "w", false},
		"its words ended": {func(h *house, _ *undo.Store) {
			h.boxed("1", map[string]string{"x.go": "package low\n"})
			h.boxed("2", map[string]string{"x.go": "package other\n"})
			h.ends()
		}, string(session), "2", false},
		"the words on its folder ended": {func(h *house, _ *undo.Store) {
			h.boxed("1", map[string]string{"target/x.go": "package low\n", "target/y.go": "package low\n"})
			h.boxed("2", map[string]string{"target/x.go": "package other\n", "x.go": "package other\n"})
			h.ends()
		}, string(session), "2", false},
		"the same call twice, and nothing is kept of the first": {func(h *house, s *undo.Store) {
			h.boxed("1", map[string]string{"x.go": "package low\n"})
			forgets(h.T, s, "in.done")
			h.boxed("1", map[string]string{"x.go": "package other\n"})
		}, string(session), "1", false},
		"nobody knows what was said": {func(h *house, s *undo.Store) {
			h.boxed("1", map[string]string{"x.go": "package low\n"})
			forgets(h.T, s, "about.json")
		}, string(session), "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			s := h.keeps()
			h.write("app/x.go", "package main\n")
			was := h.trust("claude-code/0", "x.go")
			c.do(h, s)
			if a := h.undoes(&wire.UndoRequest{Session: c.session, Call: c.call}); !a.GetDone() {
				t.Fatalf("%v", a)
			}
			file := "x.go"
			if strings.Contains(name, "folder") {
				file = "target/x.go"
			}
			if got := h.trust("claude-code/n", file); (got == was) != c.clean {
				t.Errorf("it is %v, and was %v before", got, was)
			}
		})
	}
}

// A file that a command without a box replaces is kept if the command line names the file.
func TestWhatAFreeCommandReplacesIsKept(t *testing.T) {
	for _, line := range []string{
		"echo x > keep.txt", "> keep.txt", "printf x >| keep.txt", "cat other.txt > keep.txt", "cp other.txt keep.txt", "truncate -s 0 keep.txt",
		"sed -i s/o/x/ keep.txt", "tee keep.txt < other.txt", "dd if=other.txt of=keep.txt", "install other.txt keep.txt", "sort -o keep.txt other.txt",
		"mkdir -p sub && echo x > keep.txt", "cp -f other.txt keep.txt",
	} {
		h := newHouse(t)
		s := h.keeps()
		h.write("app/keep.txt", "owner's\n")
		h.write("app/other.txt", "o\n")
		h.write("app/sub/x", "o\n")
		c := bash("1", line)
		if r := h.before(c); r.Decision.Verdict != floodmark.Allow || r.Command != "" {
			t.Errorf("%s: %+v", line, r.Decision)
			continue
		}
		keep := filepath.Join(h.project, "keep.txt")
		if h.write("app/keep.txt", "x"); line == "cp -f other.txt keep.txt" { // it may leave a file of any kind there
			if err := errors.Join(os.Remove(keep), os.Symlink("other.txt", keep)); err != nil {
				t.Fatal(err)
			}
		}
		h.after(c)
		if list := s.List(""); len(list) != 1 || list[0].Command != line || list[0].Files != 1 {
			t.Errorf("%s: %+v", line, list)
			continue
		}
		h.undoes(&wire.UndoRequest{Session: string(session)})
		if data, err := os.ReadFile(keep); string(data) != "owner's\n" || err != nil {
			t.Errorf("%s: %q, %v", line, data, err)
		}
	}
}

// Codex reports no end of a patch that it applies in place of its shell. The replaced file is kept
// when the next call comes, before that call can replace it again.
func TestAPatchWithoutAnEndIsKept(t *testing.T) {
	for _, patch := range []string{"apply_patch <<'P'\n", "cd . && applypatch <<'P'\n"} {
		h := newHouse(t)
		s := h.keeps()
		h.write("app/keep.txt", "one\n")
		h.session = "codex:1"
		h.tell(hook.Event{Agent: "codex", Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
		patched := bash("1", patch+"*** Begin Patch\n*** Update File: keep.txt\n@@\n-one\n+two\n*** End Patch\nP\n")
		again := bash("2", "echo three > keep.txt")
		for i, c := range []hook.Call{patched, again} {
			if r := h.tell(hook.Event{Agent: "codex", Point: hook.BeforeToolCall, Call: c}); r.Decision.Verdict != floodmark.Allow || r.Command != "" {
				t.Fatalf("%s: %+v", c.Args, r.Decision)
			}
			if n := len(s.List("")); n != i {
				t.Errorf("%s: %d calls are kept before call %d", patch, n, i)
			}
			h.write("app/keep.txt", []string{"two\n", "three\n"}[i])
			h.now = h.now.Add(time.Second)
		}
		h.tell(hook.Event{Agent: "codex", Point: hook.AfterToolCall, Call: again, Result: hook.Result{Text: "done"}})
		h.undoes(&wire.UndoRequest{Session: "codex:1"})
		if data, err := os.ReadFile(filepath.Join(h.project, "keep.txt")); string(data) != "one\n" || err != nil {
			t.Errorf("%s: %q, %v", patch, data, err)
		}
	}
}

// If a file was changed since, its old version is put beside it, with the label that it had.
func TestWhatIsPutBesideKeepsItsLabel(t *testing.T) {
	h := newHouse(t)
	h.keeps()
	h.boxed("1", map[string]string{"x.go": "package low\n"})
	h.boxed("2", map[string]string{"x.go": "package other\n", "main.go": "package other\n"})
	h.ends()
	h.write("app/x.go", "package mine\n")
	if a := h.undoes(&wire.UndoRequest{Session: string(session), Call: "2"}); a.GetDone() || !strings.Contains(strings.Join(a.GetLines(), "\n"), "--beside") {
		t.Fatalf("%v", a)
	}
	a := h.undoes(&wire.UndoRequest{Session: string(session), Call: "2", Beside: true})
	if !a.GetDone() || strings.Join(a.GetCalls()[0].GetBeside(), " ") != "x.go.before-undo" || len(a.GetCalls()[0].GetGiven()) != 1 {
		t.Fatalf("%v", a)
	}
	for name, want := range map[string]string{"x.go": "package mine\n", "x.go.before-undo": "package low\n", "main.go": "package main\n"} {
		if data, err := os.ReadFile(filepath.Join(h.project, name)); string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if got := h.trust("claude-code/n", "x.go.before-undo"); got >= floodmark.External {
		t.Errorf("it is %v", got)
	}
}
