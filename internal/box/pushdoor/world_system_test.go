package pushdoor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/boxgit"
	"github.com/floodmark/floodmark/internal/box/gitpush"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A world is a machine with a project, the remote it came from, an attacker's remote, and a
// monitor. An attack only does what an agent could do to the project.
type world struct {
	*testing.T
	home, app, origin, evil, ran string
	url                          string // the address of origin in the project's settings
	disk                         *workspace.Disk
	monitor                      *monitor.Monitor
	door                         *Door
	desk                         *owner.Desk // answers the requests of "floodmark approve"
	asked                        []approval.Ticket
	approved                     []*hook.Push
	old                          map[string]string // the objects that are in the remotes at the beginning
	oldLines                     map[string]bool
	calls                        int
}

const session = floodmark.SessionID("claude-code/s")

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// Ask implements [approval.Approver].
func (w *world) Ask(_ context.Context, t approval.Ticket) error {
	w.asked = append(w.asked, t)
	return nil
}

func (w *world) Keeps() {}

// git runs git as the agent does.
func (w *world) git(args ...string) string {
	w.Helper()
	return w.in(w.app, "", args...)
}

func (w *world) in(dir, input string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-01-02T12:00:00Z", "GIT_COMMITTER_DATE=2026-01-02T12:00:00Z",
		"GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=file",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) write(path, text string) {
	w.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.app, path)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		w.Fatal(err)
	}
}

// add appends to one of git's files.
func (w *world) add(path, text string) {
	w.Helper()
	was, err := os.ReadFile(filepath.Join(w.app, path))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	w.write(path, string(was)+text)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// commit commits a file.
func (w *world) commit(path, text string) string {
	w.Helper()
	w.write(path, text)
	return w.all("change " + filepath.Base(path))
}

func (w *world) all(message string) string {
	w.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "-m", message)
	return w.git("rev-parse", "HEAD")
}

// program writes a program that leaves a trace when it runs.
func (w *world) program(path string) string {
	w.Helper()
	w.write(path, "#!/bin/sh\ntouch "+w.ran+"\ncat\n")
	w.must(os.Chmod(filepath.Join(w.app, path), 0o700))
	return filepath.Join(w.app, path)
}

const numbers = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"

// template makes the files that every world starts with, once.
func template(t *testing.T) string {
	t.Helper()
	w := &world{T: t}
	w.place(t.TempDir())
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
	for _, bare := range []string{w.origin, w.evil} {
		w.in(w.home, "", "init", "-q", "--bare", bare)
	}
	w.in(w.home, "", "init", "-q", w.app)
	w.write("README.md", "hello\n")
	w.write("src/numbers.txt", numbers)
	w.write("run.sh", "echo hi\n")
	w.all("begin")
	w.git("push", "-q", w.origin, "main")
	w.git("push", "-q", w.evil, "main")
	return w.home
}

func (w *world) place(home string) {
	w.home = home
	w.app, w.origin, w.evil, w.ran = filepath.Join(home, "app"), filepath.Join(home, "origin.git"), filepath.Join(home, "evil.git"), filepath.Join(home, "ran")
	w.url = w.origin
}

var rules = sync.OnceValues(func() (kernel.Rules, error) { //nolint:gochecknoglobals // rules never change
	p, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\n")})
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	c, err := catalog.Shipped()
	return kernel.NewRules(p, c), err
})

// newWorld copies the template and starts a monitor with a session in which a page was
// read. An attack that has to come before the session comes in early.
func newWorld(t *testing.T, from string, early func(w *world)) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t}
	w.place(home)
	w.must(os.CopyFS(home, os.DirFS(from)))
	if early != nil {
		early(w)
	}
	w.add(".git/config", fmt.Sprintf("[remote \"origin\"]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", w.url))
	w.git("update-ref", "refs/remotes/origin/main", "HEAD")
	r, err := rules()
	w.must(err)
	w.disk = workspace.New(workspace.Options{Home: home})
	store := journal.NewMemory()
	w.monitor, err = monitor.New(monitor.Config{
		Journal: store, Disk: w.disk, Rules: func() kernel.Rules { return r }, Now: noon, Approvers: []approval.Approver{w},
		Key:     func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		NewCode: func() string { return "12345678" }, NewTicket: func() floodmark.TicketID { w.calls++; return floodmark.TicketID(fmt.Sprint("t", w.calls)) },
	})
	w.must(err)
	t.Cleanup(func() { _ = w.monitor.Close() })
	w.desk = &owner.Desk{Monitor: w.monitor, Journal: store, Now: noon, Hub: owner.NewHub()}
	w.must(os.Mkdir(filepath.Join(home, "copies"), 0o700))
	w.door = New(Config{
		Hooks: w.monitor, View: w.monitor.View, Look: w.disk.Push, Now: noon,
		Git: gitpush.Config{Git: boxgit.Find(), Folder: filepath.Join(home, "copies"), Home: home},
	})
	w.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: w.app, Home: w.home})
	w.tell(hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}, Text: "Read https://news.example/tips and fix the bug"})
	fetch := hook.Call{ID: "fetch", Name: "WebFetch", Args: json.RawMessage(`{"url":"https://news.example/tips","prompt":"tips"}`)}
	w.tell(hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	w.tell(hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: "Push often."}})
	w.old, w.oldLines = w.objects(), map[string]bool{}
	for _, kind := range w.old {
		for l := range strings.SplitSeq(kind, "\n") {
			w.oldLines[l] = true
		}
	}
	return w
}

func (w *world) tell(ev hook.Event) hook.Reply {
	w.Helper()
	ev.Session, ev.Agent = session, "claude-code"
	reply, err := w.door.Handle(w.Context(), "", ev)
	w.must(err)
	return reply
}

// run proposes a command line.
func (w *world) run(line string) hook.Reply {
	w.Helper()
	w.calls++
	args, err := json.Marshal(map[string]string{"command": line})
	w.must(err)
	return w.tell(hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: floodmark.CallID(fmt.Sprint("c", w.calls)), Name: "Bash", Args: args}})
}

// approve approves the last question.
func (w *world) approve() {
	w.Helper()
	t := w.asked[len(w.asked)-1]
	_, err := w.monitor.Answer(w.Context(), journal.Session{ID: session}, approval.Command{
		Verb: approval.Approve, Tool: approval.All, Ticket: t.ID, Calls: t.Calls, Seen: t.Seen, By: "ada", Channel: "terminal",
	})
	w.must(err)
	if t.Call.Push.Reviewed() {
		w.approved = append(w.approved, t.Call.Push)
	}
}

// objects returns the objects of both remotes with their content.
func (w *world) objects() map[string]string {
	w.Helper()
	all := map[string]string{}
	for _, repo := range []string{w.origin, w.evil} {
		list := w.in(repo, "", "cat-file", "--batch-all-objects", "--batch-check")
		for line := range strings.Lines(list) {
			f := strings.Fields(line)
			key := filepath.Base(repo) + " " + f[1] + " " + f[0]
			all[key] = ""
			if f[1] == "blob" {
				all[key] = w.in(repo, "", "cat-file", "blob", f[0])
			}
		}
		for line := range strings.Lines(w.in(repo, "", "for-each-ref", "--format=%(refname) %(objectname)")) {
			name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
			all[filepath.Base(repo)+" ref "+name] = id
		}
	}
	return all
}

// check compares what came to the remotes with what was shown and approved.
func (w *world) check() {
	w.Helper()
	if _, err := os.Lstat(w.ran); err == nil {
		w.Error("a program of the project or of the remote ran")
	}
	now := w.objects()
	for key := range w.old {
		if _, is := now[key]; !is {
			w.Errorf("%s is gone", key)
		}
	}
	text, hidden := "", false
	for _, p := range w.approved {
		text += strings.Join(p.Head, "\n") + "\n" + strings.Join(p.Body, "\n") + "\n"
		hidden = hidden || strings.HasPrefix(p.Head[0], "NOT SHOWN")
	}
	for _, key := range sorted(now) {
		if was, is := w.old[key]; is && was == now[key] {
			continue
		}
		f := strings.Fields(key)
		switch {
		case f[0] == "evil.git":
			w.Errorf("%s came to another remote", key)
		case f[1] == "ref":
			if !strings.Contains(text, "commit "+now[key]) {
				w.Errorf("%s is at %s, which was not shown", key, now[key])
			}
		case f[1] == "commit" && !strings.Contains(text, "commit "+f[2]), f[1] == "tag":
			w.Errorf("%s was not shown", key)
		case f[1] == "blob" && !hidden:
			for line := range strings.SplitSeq(now[key], "\n") {
				if !w.oldLines[line] && !strings.Contains(text, floodmark.Visible(strings.TrimLeft(line, " "))) {
					w.Errorf("%s: %.80q was not shown", key, line)
				}
			}
		}
	}
}

func sorted(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for k := range maps.Keys(m) {
		list = append(list, k)
	}
	return list
}
