package peer

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The open files say what the system says, the first time as the second.
func TestKinSayWhatTheSystemSays(t *testing.T) {
	k := Local()
	for range 3 {
		want, err := Trace(System{}, os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Trace(k, os.Getpid())
		if err != nil || !same(got, want) {
			t.Fatalf("got %s, %v, want %s", got.Line(), err, want.Line())
		}
		for i, up := range got.Ancestors {
			if w := want.Ancestors[i]; up.Name != w.Name || !slices.Equal(up.Command, w.Command) || up.Terminal != w.Terminal || up.Parent != w.Parent {
				t.Errorf("ancestor %d is %+v, want %+v", i, up, w)
			}
		}
	}
}

// child starts a shell that starts a sleep, and returns both.
func child(t *testing.T) (parent *exec.Cmd, below int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 60 & echo $!; exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 32)
	n, err := out.Read(line)
	below, bad := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if p, err := os.FindProcess(below); err == nil {
			_ = p.Kill()
		}
	})
	return cmd, below
}

// An ancestor that ended is not an ancestor any more, though its files were open.
func TestKinThatEndedAreGone(t *testing.T) {
	k := Local()
	parent, below := child(t)
	p, err := Trace(k, below)
	if err != nil || p.Ancestors[0].PID != parent.Process.Pid {
		t.Fatalf("%s, %v", p.Line(), err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait() // it was killed
	p, err = Trace(k, below)
	if err != nil || p.Ancestors[0].PID == parent.Process.Pid {
		t.Errorf("%s, %v", p.Line(), err)
	}
}

// A number that another process has now is another process: what was opened for
// the first says nothing of the second.
func TestANumberUsedAgainIsReadAnew(t *testing.T) {
	k := &Kin{known: map[int]*relative{}}
	parent, below := child(t)
	gone := exec.CommandContext(t.Context(), "sleep", "60")
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := k.relative(gone.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	k.known[parent.Process.Pid] = r // as if its number had been that one's
	if p, err := Trace(k, below); err != nil || p.Ancestors[0].PID != parent.Process.Pid || p.Ancestors[0].Name == "sleep" {
		t.Errorf("a living one of another number: %s, %v", p.Line(), err)
	}
	_ = gone.Process.Kill()
	_ = gone.Wait() // it was killed
	k.known[parent.Process.Pid] = r
	if p, err := Trace(k, below); err != nil || p.Ancestors[0].PID != parent.Process.Pid {
		t.Errorf("one that ended: %s, %v", p.Line(), err)
	}
}

// A parent whose files were opened after its child was read counts only if the
// child says the same again.
func TestANewParentIsConfirmedByItsChild(t *testing.T) {
	k := &Kin{known: map[int]*relative{}}
	_, below := child(t)
	if _, err := Trace(k, below); err != nil {
		t.Fatal(err)
	}
	if k.turn == 0 || len(k.known) == 0 {
		t.Fatal("nothing was opened: this shows nothing")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := Trace(k, below); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Only so many files are open.
func TestKinAreBounded(t *testing.T) {
	k := &Kin{known: map[int]*relative{}}
	self := os.Getpid()
	for i := range 4 * maxKin {
		if _, err := k.relative(self); err != nil {
			t.Fatal(err)
		}
		k.known[-i-1] = k.known[self] // another number
		delete(k.known, self)
		if len(k.known) > maxKin {
			t.Fatalf("%d are open", len(k.known))
		}
	}
}

func BenchmarkTrace(b *testing.B) {
	for name, t := range map[string]Table{"system": System{}, "kin": Local()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Trace(t, os.Getpid()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
