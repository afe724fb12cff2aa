package sqlitejournal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// child is the variable that tells the test program, when it starts itself again, what to do.
const child = "FLOODMARK_SQLITEJOURNAL_CHILD"

// startChild runs TestChild in a process of its own and returns the lines that it printed.
func startChild(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), child+"="+strings.Join(args, "|"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
	}
	_ = cmd.Wait() // the child kills itself
	return said
}

// TestChild is not a test. The tests below start it as a process.
func TestChild(t *testing.T) {
	args := strings.Split(os.Getenv(child), "|")
	switch args[0] {
	case "":
		t.Skip("only for the tests below")
	case "kill":
		after, _ := strconv.Atoi(args[3])
		childAppends(t, args[1], args[2], after)
	case "limit":
		childLimited(t, args[1])
	}
}

// childAppends writes with 8 sessions at once, prints what was acknowledged, and kills itself when
// a point is reached for the n-th time.
func childAppends(t *testing.T, path, point string, after int) {
	var mu sync.Mutex
	fault := func(at string) {
		mu.Lock()
		defer mu.Unlock()
		if at == point {
			if after--; after < 0 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	j, err := Open(t.Context(), path, Options{Volatile: true, Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := resume(t, j, fmt.Sprint("s", i))
			for n := range 300 {
				r := c.Next(t, fmt.Sprint("text ", n), strings.Repeat("x", 600))
				if n%4 == 3 {
					r.Snapshot = []byte("state")
				}
				if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{r}}); err != nil {
					t.Error(err)
					return
				}
				fmt.Printf("ack %s %d %s\n", c.Session.ID, c.Last.Seq, c.Last.Hash)
			}
		})
	}
	wg.Wait()
	t.Error("the point was not reached")
}

// resume returns a chain that continues a session.
func resume(t *testing.T, j *Journal, id string) *journaltest.Chain {
	c := journaltest.NewChain("", id)
	for e, err := range j.Read(t.Context(), c.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Check(c.Session, c.Last, e); err != nil {
			t.Fatal(err)
		}
		c.Entries, c.Last = append(c.Entries, e), e.Link()
	}
	return c
}

// TestKilled ends the process at every named point: nothing that was
// acknowledged is lost, and every chain is whole.
func TestKilled(t *testing.T) {
	for point, times := range map[string][]int{
		BeforeAppend: {0, 1, 7, 40},
		InSnapshot:   {0, 1, 7, 40},
		InCommit:     {0, 1, 7, 40},
		AfterCommit:  {0, 1, 7, 40},
		InMigration:  {0}, // a migration happens only once
	} {
		t.Run(point, func(t *testing.T) {
			path := newPath(t)
			acked := 0
			for _, after := range times {
				said := startChild(t, "kill", path, point, strconv.Itoa(after))
				j := open(t, path, Options{})
				chains := map[string]*journaltest.Chain{}
				for _, line := range said {
					var id, hash string
					var seq int
					if n, _ := fmt.Sscanf(line, "ack %s %d %s", &id, &seq, &hash); n != 3 {
						t.Log(line)
						continue
					}
					acked++
					if chains[id] == nil {
						chains[id] = resume(t, j, id)
					}
					if c := chains[id]; len(c.Entries) < seq || c.Entries[seq-1].Hash.String() != hash {
						t.Fatalf("session %s: entry %d was acknowledged and is lost", id, seq)
					}
				}
				if err := errors.Join(j.Check(t.Context()), j.Close()); err != nil {
					t.Fatal(err)
				}
			}
			if acked == 0 && point != InMigration {
				t.Error("nothing was ever acknowledged")
			}
		})
	}
}

// childLimited appends until the store may not grow any more, and prints the error.
func childLimited(t *testing.T, path string) {
	j, err := Open(t.Context(), path, Options{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	c := journaltest.NewChain("", "s0")
	for failed := 0; failed < 3; {
		r := c.Peek(t, strings.Repeat("x", 50_000))
		switch err := j.Append(context.Background(), journal.Batch{Records: []journal.Record{r}}); {
		case err == nil && failed > 0:
			fmt.Println("acknowledged after a failure")
		case err == nil:
			c.Next(t, strings.Repeat("x", 50_000))
			fmt.Printf("ack %d\n", c.Last.Seq)
		default:
			failed++
			fmt.Printf("doubt=%t %v\n", errors.Is(err, journal.ErrInDoubt), err)
		}
	}
	c.Verify(t, j)
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// TestWriteError lets the operating system refuse a write in the middle of a
// commit.
func TestWriteError(t *testing.T) {
	path := newPath(t)
	said := startChild(t, "limit", path)
	if len(said) < 4 {
		t.Fatalf("the child said %q", said)
	}
	acks, failures := said[:len(said)-3], said[len(said)-3:]
	if !strings.HasPrefix(failures[0], "doubt=true") {
		t.Errorf("first failure: %s", failures[0])
	}
	for _, f := range failures[1:] {
		if !strings.HasPrefix(f, "doubt=false") || !strings.Contains(f, "writes no more") || !strings.Contains(f, "look at the disk") {
			t.Errorf("later failure: %s", f)
		}
	}
	j := open(t, path, Options{})
	if c := resume(t, j, "s0"); len(c.Entries) < len(acks) || len(c.Entries) > len(acks)+1 {
		t.Errorf("%d entries, %d were acknowledged", len(c.Entries), len(acks))
	}
}

// TestDiskFull fills a small file system. Every acknowledged append is there, and when there is
// room again the journal can be written to.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("NOT RUN: a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal.db")
	j := open(t, path, Options{})
	c := journaltest.NewChain("", "s1")
	add := func() error {
		r := c.Peek(t, strings.Repeat("x", 30_000))
		err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{r}})
		if err == nil {
			c.Next(t, strings.Repeat("x", 30_000))
		}
		return err
	}
	var err error
	for range 1000 {
		if err = add(); err != nil {
			break
		}
	}
	if err == nil || errors.Is(err, journal.ErrInDoubt) || len(c.Entries) == 0 {
		t.Fatalf("after %d entries: %v", len(c.Entries), err)
	}
	says(t, err, "full")
	c.Verify(t, j)
	if err := add(); err == nil {
		t.Error("a full disk took one more")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := add(); err != nil {
			t.Fatalf("with room again: %v", err)
		}
	}
	c.Verify(t, j)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	c.Verify(t, open(t, path, Options{}))
}
