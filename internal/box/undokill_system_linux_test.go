package box_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/box/boxwrites"
	"github.com/floodmark/floodmark/internal/project/undo"
)

var (
	kills    = flag.Int("undo-kills", 40, "how often moving in and undoing are killed")
	evidence = flag.String("undo-evidence", "", "the file that gets what was counted")
)

// childOf is the variable that tells this program to move in or undo, and where to be killed.
const childOf = "FLOODMARK_TEST_CHILD"

// A child describes what a process does, and where it is killed.
type child struct {
	Project, Folder, Store string
	ID                     string // id of what is undone; if empty, files are moved in
	At                     int    // the point at which it is killed
}

func (c *child) store() *undo.Store {
	free := func(string) (io.Closer, error) { return io.NopCloser(nil), nil }
	return &undo.Store{Folder: c.Store, Quota: 4 << 30, Now: time.Now, Lock: free}
}

// do runs c in this process.
func (c *child) do() error {
	passed := 0
	at := func(string) {
		if passed++; passed == c.At {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	if c.ID != "" {
		s := c.store()
		s.At = at
		_, err := s.Back(c.ID, undo.How{})
		return err
	}
	w := &boxwrites.Writes{Project: c.Project, Folder: c.Folder, Undo: undo.Quota, At: at}
	list, err := w.Changes()
	if err != nil {
		return err
	}
	w.Digest(list)
	return w.MoveIn(list)
}

// killedAt runs c in a separate process, and reports whether that was killed.
func (c *child) killedAt(t *testing.T, at int) bool {
	t.Helper()
	c.At = at
	told, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBox$")
	cmd.Env = append(os.Environ(), childOf+"="+string(told))
	out, err := cmd.CombinedOutput()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return false
}

// written makes a project and what a command wrote above it: new, replaced and removed files,
// folders in place of files, and new and removed folders.
func written(t *testing.T, r *rand.Rand) *child {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Project: filepath.Join(root, "p"), Store: filepath.Join(root, "undo")}
	if c.Folder, err = c.store().Room(undo.About{Session: "s", Call: "c"}); err != nil {
		t.Skip(err)
	}
	upper := filepath.Join(c.Folder, "written")
	for i := range 1 + r.IntN(6) {
		in := fmt.Sprintf("d%d", i)
		put(t, filepath.Join(c.Project, in, "old"), fmt.Sprint("old ", i))
		put(t, filepath.Join(c.Project, in, "gone"), "gone")
		put(t, filepath.Join(c.Project, in, "tree/deep/x"), "x")
		switch r.IntN(4) {
		case 0:
			put(t, filepath.Join(upper, in, "old"), "new")
			put(t, filepath.Join(upper, in, "made/x"), "new")
		case 1:
			put(t, filepath.Join(upper, in, "old/in-place"), "new")
			if err := unix.Mknod(filepath.Join(upper, in, "gone"), unix.S_IFCHR, 0); err != nil {
				t.Skip(err)
			}
		case 2:
			put(t, filepath.Join(upper, in, "tree/new"), "new")
			if err := unix.Lsetxattr(filepath.Join(upper, in, "tree"), "user.overlay.opaque", []byte("y"), 0); err != nil {
				t.Skip(err)
			}
		case 3:
			put(t, filepath.Join(upper, in, "tree"), "a file now")
			put(t, filepath.Join(upper, in, "link"), "-> old")
		}
	}
	return c
}

// Wherever moving in or undoing is killed, in the end everything is done, or nothing.
func (p *programs) killedInTheMiddle(t *testing.T) {
	counted := map[string]int{}
	for n := 0; counted["kills"] < *kills && n < 10**kills; n++ {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		c := written(t, r)
		before := picture(t, c.Project)
		after := movedIn(t, uint64(n))
		if c.killedAt(t, 1+r.IntN(20)) {
			counted["kills"]++
			counted["while moving in"]++
		}
		s := c.store()
		if err := s.Sweep(); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		is := shape(picture(t, c.Project))
		if slices.Equal(is, shape(before)) {
			counted["nothing was moved in"]++
			continue
		}
		if !slices.Equal(is, after) {
			t.Fatalf("%d: half way: %q, want %q", n, is, after)
		}
		if list := s.List(""); len(list) != 1 {
			_ = s.Take(c.Folder, undo.Said{})
		}
		list := s.List("")
		if len(list) != 1 {
			t.Fatalf("%d: what was replaced is lost: %+v", n, list)
		}
		c.ID = list[0].ID
		if c.killedAt(t, 1+r.IntN(20)) {
			counted["kills"]++
			counted["while undoing"]++
		}
		if err := s.Sweep(); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		if is := picture(t, c.Project); !slices.Equal(is, before) && (!slices.Equal(shape(is), after) || len(s.List("")) != 1) {
			t.Fatalf("%d: half undone: %q, want %q", n, is, before)
		}
		counted["moved in as a whole"]++
	}
	t.Log(counted)
	counted["half-written"], counted["lost"] = 0, 0 // each such case ends the test
	found := map[string]any{}
	if data, err := os.ReadFile(*evidence); *evidence != "" && err == nil {
		_ = json.Unmarshal(data, &found) // numbers that are not measured this time stay
	}
	found["killed"], found["undone commands"] = counted, p.undid.Load()
	note(t, found)
	if took := p.measureMovingIn(t); took != nil {
		found["moving in"] = took
		note(t, found)
	}
}

// note stores the results.
func note(t *testing.T, found map[string]any) {
	t.Helper()
	if *evidence == "" {
		return
	}
	data, err := json.MarshalIndent(found, "", "  ")
	if err == nil {
		err = os.WriteFile(*evidence, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// movedIn returns the project if no process is killed.
func movedIn(t *testing.T, seed uint64) []string {
	t.Helper()
	c := written(t, rand.New(rand.NewPCG(seed, 1)))
	if err := c.do(); err != nil {
		t.Fatal(err)
	}
	return shape(picture(t, c.Project))
}

// shape returns a picture without times, which differ from one project to another.
func shape(list []string) (all []string) {
	for _, line := range list {
		all = append(all, line[:min(len(line), len(line)-timeLength(line))])
	}
	return all
}

// timeLength returns the length of the time at the end of a line.
func timeLength(line string) int {
	const hash = 64
	for i := len(line) - 1; i > hash; i-- {
		if line[i] == ' ' && i > hash && isHash(line[i-hash:i]) {
			return len(line) - i
		}
	}
	return 0
}

func isHash(text string) bool {
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}
