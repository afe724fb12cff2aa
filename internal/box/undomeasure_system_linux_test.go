package box_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box/boxwrites"
	"github.com/floodmark/floodmark/internal/project/undo"
)

var measured = flag.Bool("undo-measure", false, "measure moving in 10, 1,000 and 100,000 files and a build folder of 2 GB")

// measureMovingIn measures how long moving in takes on the disk of the temporary folder: first each
// file is new, then each is replaced, then all are restored.
func (p *programs) measureMovingIn(t *testing.T) map[string]any {
	if !*measured {
		return nil
	}
	all := map[string]any{}
	for name, size := range map[string]struct{ files, bytes int }{
		"10 files": {10, 2000}, "1,000 files": {1000, 2000}, "100,000 files": {100_000, 2000}, "2 GB in 200 files": {200, 10 << 20},
	} {
		root := t.TempDir()
		c := &child{Project: filepath.Join(root, "p"), Store: filepath.Join(root, "undo")}
		put(t, filepath.Join(c.Project, "README"), "x")
		took := map[string]string{}
		for _, how := range []string{"new", "replaced"} {
			var err error
			if c.Folder, err = c.store().Room(undo.About{Session: "s", Call: how}); err != nil {
				t.Skip(err)
			}
			data := make([]byte, size.bytes)
			copy(data, how)
			for i := range size.files {
				at := filepath.Join(c.Folder, "written", "build", fmt.Sprint(i/100), fmt.Sprint(i))
				_ = os.MkdirAll(filepath.Dir(at), 0o755)
				if err := os.WriteFile(at, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			w := &boxwrites.Writes{Project: c.Project, Folder: c.Folder, Undo: 3 << 30}
			began, at := busy(t), time.Now()
			list, err := w.Changes()
			if err != nil {
				t.Fatal(err)
			}
			looked := busy(t) - began
			w.Digest(list)
			hashed := busy(t) - began - looked
			if err := w.MoveIn(list); err != nil {
				t.Fatal(err)
			}
			all := busy(t) - began
			took[how] = fmt.Sprintf("%v of processor time (%v to look, %v to hash, %v to move), %v in all", all, looked, hashed, all-looked-hashed, time.Since(at).Round(time.Millisecond))
			if err := c.store().Take(c.Folder, undo.Said{}); err != nil {
				t.Fatal(err)
			}
		}
		s := c.store()
		began := busy(t)
		if r, err := s.Back(s.List("")[0].ID, undo.How{}); err != nil || !r.Done {
			t.Logf("%s: %+v, %v", name, len(r.Refused), err)
		}
		took["given back"] = fmt.Sprintf("%v of processor time", busy(t)-began)
		all[name] = took
		t.Log(name, took)
	}
	return all
}

// busy returns how long this process has used a processor, because on a busy machine it waits most
// of the time.
func busy(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Round(time.Millisecond)
}
