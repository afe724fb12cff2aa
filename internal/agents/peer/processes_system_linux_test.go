package peer

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestProcesses has the tests that need real processes.
func TestProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"of t c p", ofTCP},
		{"a child descends from us", aChildDescendsFromUs},
		{"now is the clock of processes", nowIsTheClockOfProcesses},
		{"kin that ended are gone", kinThatEndedAreGone},
		{"a number used again is read anew", aNumberUsedAgainIsReadAnew},
		{"a new parent is confirmed by its child", aNewParentIsConfirmedByItsChild},
	} {
		t.Run(c.name, c.test)
	}
}

// The real process at the other end of a real connection is found, by IPv4 and IPv6, and no other
// process is.
func ofTCP(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		at := netip.MustParseAddrPort(l.Addr().String())
		host, port := at.Addr().String(), l.Addr().String()[strings.LastIndex(l.Addr().String(), ":")+1:]
		child := exec.Command("bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port+"; read -r _ <&3")
		if err := child.Start(); err != nil {
			t.Skip(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := netip.MustParseAddrPort(conn.LocalAddr().String()), netip.MustParseAddrPort(conn.RemoteAddr().String())
		got, err := OfTCP(ours, theirs, []int{os.Getuid()}, Process{})
		if err != nil || got.PID != child.Process.Pid {
			t.Errorf("%s: %+v, %v, want %d", address, got, err, child.Process.Pid)
		}
		itself, err := System{}.Look(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		for name, guess := range map[string]Process{
			"right": got, "another process": itself.Process, "one that ended": {PID: got.PID, Start: got.Start - 1}, "nobody": {PID: 1 << 30, Start: 1},
		} {
			if again, err := OfTCP(ours, theirs, []int{os.Getuid()}, guess); err != nil || again != got {
				t.Errorf("%s: with a guess that is %s: %+v, %v, want %+v", address, name, again, err, got)
			}
		}
		if _, err := OfTCP(ours, theirs, []int{os.Getuid() + 1}, got); !errors.Is(err, ErrUnknown) {
			t.Errorf("another user: %v", err)
		}
		if got, err := OfTCP(theirs, ours, []int{os.Getuid()}, Process{}); err != nil || got.PID != os.Getpid() {
			t.Errorf("our own end: %+v, %v", got, err)
		}
		_ = conn.Close()
		_ = child.Wait()
		if _, err := OfTCP(ours, theirs, []int{os.Getuid()}, Process{}); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is gone: %v", err)
		}
		_ = l.Close()
	}
}

// A child is found below its parent, and no longer after it has ended.
func aChildDescendsFromUs(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "30")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := Trace(System{}, cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Ancestors) == 0 || p.Ancestors[0].PID != os.Getpid() {
		t.Errorf("got %s", p.Line())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if _, err := (System{}).Look(cmd.Process.Pid); err == nil {
		t.Error("a process that ended is still there")
	}
}

// Now uses the same clock as the start times of processes.
func nowIsTheClockOfProcesses(t *testing.T) {
	before := Now()
	cmd := exec.CommandContext(t.Context(), "sleep", "10")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, err := System{}.Look(cmd.Process.Pid)
	if now := Now(); err != nil || p.Start < before || p.Start > now {
		t.Errorf("began at %d, not within %d and %d: %v", p.Start, before, now, err)
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

// An ancestor that ended is not an ancestor any more, although its files were open.
func kinThatEndedAreGone(t *testing.T) {
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

// If another process has the number now, the files that were opened for the first process do not
// describe the second.
func aNumberUsedAgainIsReadAnew(t *testing.T) {
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
	k.known[parent.Process.Pid] = r // as if its number had been the other process's
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

// A parent whose files were opened after its child was read is accepted only if the child still
// names it.
func aNewParentIsConfirmedByItsChild(t *testing.T) {
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
