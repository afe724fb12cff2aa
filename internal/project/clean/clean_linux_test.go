package clean

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// A rig is a monitor in memory over a project on a real disk. Its clock is far ahead, so that every
// file was changed before it got its label. A test sets the clock back to get a file that was
// changed later.
type rig struct {
	*testing.T
	*Cleaner
	root    string
	now     time.Time
	altered artifact.Altered
	journal *failing
	calls   int
}

// A disk reports the changes of a run that a test sets.
type disk struct {
	*workspace.Disk
	r *rig
}

func (d disk) Steers(string) (string, floodmark.Digest) { return "", floodmark.Digest{} }

func (d disk) Changed(context.Context, string, time.Time) artifact.Altered { return d.r.altered }

// A failing is a journal that can be full.
type failing struct {
	*journal.Memory
	full bool
}

func (f *failing) Append(ctx context.Context, b journal.Batch) error {
	if f.full {
		return errors.New("the disk is full")
	}
	return f.Memory.Append(ctx, b)
}

func emptyRig(t *testing.T) *rig {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\n")})
	c, err := catalog.Shipped()
	if problems.Failed() || err != nil {
		t.Fatal(problems, err)
	}
	rules := kernel.NewRules(p, c)
	r := &rig{T: t, root: filepath.Join(home, "App"), now: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), journal: &failing{Memory: journal.NewMemory()}}
	m, err := monitor.New(monitor.Config{
		Journal: r.journal, Disk: disk{workspace.New(workspace.Options{Home: home}), r}, Rules: func() kernel.Rules { return rules },
		Now:     func() time.Time { r.now = r.now.Add(time.Second); return r.now },
		Key:     func(string) (provenance.Key, error) { return provenance.Key{1}, nil },
		NewCode: func() string { return "12345678" }, NewTicket: func() floodmark.TicketID { return "t" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	r.Cleaner = &Cleaner{Monitor: m, Journal: r.journal, Now: func() time.Time { return r.now }}
	r.write("main.go", "package main\n")
	return r
}

// newRig is a rig in which a session has run something.
func newRig(t *testing.T) *rig {
	t.Helper()
	r := emptyRig(t)
	if !r.free("before") {
		t.Fatal("a project in which nobody left anything")
	}
	return r
}

func (r *rig) write(name, text string) {
	r.Helper()
	p := filepath.Join(r.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) lies(name string) bool {
	_, err := os.Lstat(filepath.Join(r.root, name))
	return err == nil
}

func (r *rig) tell(ev hook.Event) hook.Reply {
	r.Helper()
	ev.Agent, ev.Boxes = "claude-code", true
	reply, err := r.Monitor.Handle(r.Context(), "", ev)
	if err != nil {
		r.Fatal(err)
	}
	return reply
}

func (r *rig) start(s floodmark.SessionID) {
	r.Helper()
	r.tell(hook.Event{Session: s, Point: hook.SessionStart, Cause: hook.Startup, Project: r.root, Home: filepath.Dir(r.root)})
	owner := floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}
	r.tell(hook.Event{Session: s, Point: hook.MessageReceived, Origin: owner, Text: "Read https://news.example/tips and test the program"})
}

// call makes a call and, unless it is refused, gives it a result.
func (r *rig) call(s floodmark.SessionID, tool, args string) floodmark.Decision {
	r.Helper()
	r.calls++
	c := hook.Call{ID: floodmark.CallID(fmt.Sprint("c", r.calls)), Name: tool, Args: json.RawMessage(args)}
	d := r.tell(hook.Event{Session: s, Point: hook.BeforeToolCall, Call: c}).Decision
	if d.Verdict == floodmark.Allow {
		ev := hook.Event{Session: s, Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "ok"}}
		if d.Contained() {
			ev.Box = &hook.BoxEnd{State: floodmark.BoxEnded}
		}
		r.tell(ev)
	}
	return d
}

// low plays a session that reads a page and then runs something that changes files.
func (r *rig) low(s floodmark.SessionID, changed ...string) {
	r.Helper()
	r.start(s)
	r.call(s, "WebFetch", `{"url":"https://news.example/tips","prompt":"tips"}`)
	r.altered = artifact.Altered{Whole: true}
	for _, name := range changed {
		r.altered.Paths = append(r.altered.Paths, filepath.Join(r.root, name))
	}
	if d := r.call(s, "Bash", `{"command":"go test ./..."}`); d.Reach != floodmark.Boxed || d.Verdict != floodmark.Allow {
		r.Fatalf("a run after a page: %+v", d)
	}
	r.altered = artifact.Altered{Whole: true}
}

// free reports whether a fresh session is judged as before the project was touched. Without a
// label, only the place of a file decides: a file in a temporary folder, as in a test, is external.
// A file that a page influenced would be untrusted.
func (r *rig) free(s floodmark.SessionID) bool {
	r.Helper()
	r.start(s)
	d := r.call(s, "Bash", `{"command":"go test ./..."}`)
	switch rule := d.Reasons[0].Rule; rule {
	case "table.run.external":
		return true
	case "table.run.untrusted":
		return false
	default:
		r.Fatalf("%+v", d)
		return false
	}
}

func (r *rig) list() *List {
	r.Helper()
	l, err := r.List(r.Context(), "", r.root)
	if err != nil {
		r.Fatal(err)
	}
	return l
}

// clean removes everything on a list, and returns what stayed.
func (r *rig) clean(l *List) (removed int, stays []Stay) {
	r.Helper()
	var all []int
	for i := range l.Items {
		all = append(all, i)
	}
	for {
		p, err := r.Remove(r.Context(), "", l.Token, all, "ada")
		if err != nil {
			r.Fatal(err)
		}
		removed, stays = removed+p.Removed, append(stays, p.Stays...)
		if p.Left == 0 {
			return removed, stays
		}
	}
}

// facts returns the facts about cleaned files, as texts.
func (r *rig) facts() (list []string) {
	r.Helper()
	for e, err := range r.journal.Read(r.Context(), journal.Session{ID: monitor.Files}, 0) {
		if err != nil {
			r.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			r.Fatal(err)
		}
		if c, ok := f.(floodmark.FilesCleaned); ok {
			for _, file := range c.Files {
				list = append(list, fmt.Sprintf("%v %s", c.Done, strings.TrimPrefix(file.Path, r.root+"/")))
			}
		}
	}
	return list
}

func TestAProjectIsFreeAgainAfterCleaning(t *testing.T) {
	r := newRig(t)
	r.write("lib/__pycache__/evil.pyc", "evil")
	r.write("lib/__pycache__/deep/more.pyc", "more")
	r.write("Out.BIN", "evil")
	r.low("a", "lib/__pycache__/**", "Out.BIN")
	if r.free("b") {
		t.Fatal("what a box left does not box the next run")
	}
	l := r.list()
	if len(l.Items) != 2 || len(l.Stays) != 0 || !strings.Contains(l.Items[0].Source, "news.example") || l.Items[0].Session == "" {
		t.Fatalf("%+v", l)
	}
	if removed, stays := r.clean(l); removed != 3 || len(stays) != 0 {
		t.Errorf("%d removed, %v stay", removed, stays)
	}
	if r.lies("lib/__pycache__") || r.lies("Out.BIN") || !r.lies("main.go") || !r.lies("lib") {
		t.Error("not exactly what was listed is gone")
	}
	if !r.free("c") {
		t.Error("it is not as before")
	}
	// A folder of the same name that is made later is another one.
	r.write("lib/__pycache__/mine.pyc", "mine")
	if !r.free("d") {
		t.Error("the label outlived what it was on")
	}
	want := "false Out.BIN,true Out.BIN,false lib/__pycache__/deep/more.pyc,false lib/__pycache__/evil.pyc,true"
	got := strings.Join(r.facts(), ",")
	for _, part := range strings.Split(want, ",") {
		if !strings.Contains(got, part) {
			t.Errorf("the journal says %s; want %s", got, part)
		}
	}
}

func TestNothingIsRemovedThatIsNotWrittenDown(t *testing.T) {
	r := newRig(t)
	r.write("out.bin", "evil")
	r.low("a", "out.bin")
	l := r.list()
	r.journal.full = true
	if _, err := r.Remove(t.Context(), "", l.Token, []int{0}, "ada"); err == nil {
		t.Error("the journal is full and nobody says so")
	}
	if !r.lies("out.bin") {
		t.Error("it was removed all the same")
	}
}

func TestOnlyWhatWasConfirmedIsRemoved(t *testing.T) {
	r := newRig(t)
	r.write("a.bin", "evil")
	r.write("b.bin", "evil")
	r.low("a", "a.bin", "b.bin")
	l := r.list()
	p, err := r.Remove(t.Context(), "", l.Token, []int{1}, "ada")
	if err != nil || p.Removed != 1 || p.Left != 0 || !r.lies("a.bin") || r.lies("b.bin") {
		t.Errorf("%+v, %v", p, err)
	}
	for _, items := range [][]int{{-1}, {2}, {0, 0}} {
		l := r.list()
		if _, err := r.Remove(t.Context(), "", l.Token, append(items, 7), "ada"); !errors.Is(err, ErrList) {
			t.Errorf("%v: %v", items, err)
		}
	}
	l = r.list()
	if _, err := r.Remove(t.Context(), "other", l.Token, []int{0}, "ada"); !errors.Is(err, ErrList) {
		t.Error("a list of another tenant:", err)
	}
	r.now = r.now.Add(maxFor + time.Minute)
	if _, err := r.Remove(t.Context(), "", l.Token, []int{0}, "ada"); !errors.Is(err, ErrList) || !r.lies("a.bin") {
		t.Error("an old list:", err)
	}
}

func TestWhatChangedStays(t *testing.T) {
	t.Run("since it was listed", func(t *testing.T) {
		r := newRig(t)
		r.write("out.bin", "evil")
		r.write("target/a.o", "evil")
		r.write("target/b.o", "evil")
		r.low("a", "out.bin", "target/**")
		l := r.list()
		r.write("out.bin", "mine")
		r.write("target/b.o", "mine")
		r.write("target/c.o", "mine")
		removed, stays := r.clean(l)
		if removed != 1 || len(stays) < 2 || !r.lies("out.bin") || !r.lies("target/b.o") || !r.lies("target/c.o") || r.lies("target/a.o") {
			t.Errorf("%d removed, %v stay", removed, stays)
		}
		if r.free("b") {
			t.Error("their labels ended")
		}
	})
	t.Run("since the session left it", func(t *testing.T) {
		r := newRig(t)
		r.now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		r.write("out.bin", "mine")
		r.low("a", "out.bin")
		l := r.list()
		if len(l.Items) != 0 || len(l.Stays) != 1 || !strings.Contains(l.Stays[0].Why, "changed since") {
			t.Errorf("%+v", l)
		}
	})
	t.Run("to other content than a session wrote", func(t *testing.T) {
		r := newRig(t)
		r.low("a")
		path := filepath.Join(r.root, "notes.txt")
		r.write("notes.txt", "evil")
		if d := r.call("a", "Write", fmt.Sprintf(`{"file_path":%q,"content":"evil"}`, path)); d.Verdict != floodmark.Allow {
			t.Fatalf("%+v", d)
		}
		r.write("notes.txt", "mine")
		l := r.list()
		if len(l.Items) != 0 || len(l.Stays) != 1 || !strings.Contains(l.Stays[0].Why, "not what the session wrote") {
			t.Errorf("%+v", l)
		}
	})
}

func TestNoLinkLeadsOut(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(filepath.Dir(r.root), "precious")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.WriteFile(filepath.Join(outside, "a.o"), []byte("evil"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.write("target/a.o", "evil")
	r.write("target/b.o", "evil")
	r.low("a", "target/**")
	l := r.list()
	// The folder becomes a link to one with the same names while the owner reads the list.
	target := filepath.Join(r.root, "target")
	if err := errors.Join(os.Rename(target, target+".away"), os.Symlink(outside, target)); err != nil {
		t.Fatal(err)
	}
	if removed, stays := r.clean(l); removed != 0 || len(stays) < 2 {
		t.Errorf("%d removed, %v stay", removed, stays)
	}
	if _, err := os.Stat(filepath.Join(outside, "a.o")); err != nil || !r.lies("target.away/a.o") {
		t.Error("a link was followed:", err)
	}
	// If a listed file is a link, the link itself is removed, and its target stays.
	if err := errors.Join(os.Remove(target), os.Rename(target+".away", target), os.Symlink(outside, filepath.Join(target, "link"))); err != nil {
		t.Fatal(err)
	}
	if removed, stays := r.clean(r.list()); removed != 3 || len(stays) != 0 || r.lies("target") {
		t.Errorf("%d removed, %v stay", removed, stays)
	}
	if _, err := os.Stat(filepath.Join(outside, "a.o")); err != nil {
		t.Error("a link was followed:", err)
	}
}

func TestAHardLinkLosesOneName(t *testing.T) {
	r := newRig(t)
	r.write("main.o", "mine")
	if err := errors.Join(os.Mkdir(filepath.Join(r.root, "target"), 0o700), os.Link(filepath.Join(r.root, "main.o"), filepath.Join(r.root, "target", "x.o"))); err != nil {
		t.Fatal(err)
	}
	r.low("a", "target/**")
	l := r.list()
	if len(l.Items) != 1 || l.Items[0].Linked != 1 {
		t.Errorf("%+v", l)
	}
	if removed, _ := r.clean(l); removed != 1 || !r.lies("main.o") || r.lies("target") {
		t.Error("the other name is gone")
	}
}

func TestStrangeNames(t *testing.T) {
	r := newRig(t)
	names := []string{"target/a\nb", "target/\x1b[2Jx", "target/\u202egnp", "target/ ", "target/*", "target/\xff\xfe", "target/-rf"}
	for _, name := range names {
		r.write(name, "evil")
	}
	r.low("a", "target/**")
	if removed, stays := r.clean(r.list()); removed != len(names) || len(stays) != 0 || r.lies("target") {
		t.Errorf("%d removed, %v stay", removed, stays)
	}
}

func TestWhatIsNeverListed(t *testing.T) {
	r := newRig(t)
	r.index("src/kept.pyc")
	r.write("src/kept.pyc", "evil")
	r.write("src/new.pyc", "evil")
	r.write("target/sub/.git/HEAD", "evil")
	r.write("target/sub/a.o", "evil")
	r.low("a", "src/kept.pyc", "src/new.pyc", "target/**", ".git/hooks/pre-commit", "docs/**")
	r.write("docs/mine.md", "mine")
	l := r.list()
	if len(l.Items) != 1 || l.Items[0].Path != "src/new.pyc" {
		t.Errorf("%+v", l.Items)
	}
	why := fmt.Sprint(l.Stays)
	for _, want := range []string{"src/kept.pyc git keeps it", "target/sub it is a repository of its own", "docs anything in it"} {
		if !strings.Contains(why, want) {
			t.Errorf("%q is not in %s", want, why)
		}
	}
	// If git's index cannot be read, nothing is removed.
	if err := os.WriteFile(filepath.Join(r.root, ".git", "index"), []byte("DIRC\x00\x00\x00\x09"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := r.list(); len(l.Items) != 0 {
		t.Errorf("%+v", l.Items)
	}
	for _, folder := range []string{"App", r.root + "/main.go", r.root + "/nowhere"} {
		if _, err := r.List(t.Context(), "", folder); !errors.Is(err, ErrFolder) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// index writes git's list of files, and a repository without commits around it.
func (r *rig) index(names ...string) {
	r.Helper()
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), 2), uint32(len(names)))
	for _, name := range names {
		b = append(append(b, make([]byte, 61)...), byte(len(name)))
		b = append(append(b, name...), make([]byte, 8-(62+len(name))%8)...)
	}
	r.write(".git/index", string(b)+strings.Repeat("\x00", 20))
	r.write(".git/HEAD", "ref: refs/heads/main\n")
}

func TestManyFiles(t *testing.T) {
	r := newRig(t)
	n := 2 * atOnce * 4 // several calls
	for i := range n + 1 {
		r.write(fmt.Sprintf("target/%d/%d.o", i%10, i), "evil")
	}
	r.low("a", "target/**")
	l := r.list()
	p, err := r.Remove(t.Context(), "", l.Token, []int{0}, "ada")
	if err != nil || p.Removed == 0 || p.Left == 0 || p.Removed+p.Left != n+1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if r.free("b") {
		t.Error("half of it is gone, and the label, too")
	}
	l = r.list()
	if removed, stays := r.clean(l); removed != p.Left || len(stays) != 0 || r.lies("target") || !r.free("c") {
		t.Errorf("%d removed, %v stay", removed, stays)
	}
}
