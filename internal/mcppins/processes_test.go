//go:build unix

package mcppins

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/wholefile"
)

// pinsVariable makes this test program one that writes pins until it is killed.
const pinsVariable = "MCPPINS_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(pinsVariable); path != "" {
		writePins(path)
	}
	os.Exit(m.Run())
}

func writePins(path string) {
	for i := 0; ; i++ {
		b, err := Open(path)
		if err == nil {
			b.builtins = shipped
			name := fmt.Sprintf("s%d-%d", os.Getpid(), i%20)
			_, err = b.See(context.Background(), name, fmt.Sprint("run ", i), []Definition{tool(name, fmt.Sprintf("t_%s_%d", name, i), "text")})
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// Writers that are killed at any moment leave a file that can be read, and
// nobody waits for the dead.
func TestKilledWriters(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pins")
	for round := range 8 {
		var writers [2]*exec.Cmd
		for i := range writers {
			writers[i] = exec.Command(self)
			writers[i].Env = append(os.Environ(), pinsVariable+"="+path)
			if err := writers[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(150+37*round) * time.Millisecond)
		for _, w := range writers {
			if err := w.Process.Kill(); err != nil {
				t.Error(err)
			}
			if _, err := w.Process.Wait(); err != nil {
				t.Error(err)
			}
			if w.ProcessState != nil && w.ProcessState.Exited() {
				t.Error("a writer gave up")
			}
		}
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b.builtins = shipped
		name := fmt.Sprint("after", round)
		held(t, see(t, b, tool(name, name, "x"))[0], "", "")
	}
}

// Many at once in one process lose nothing.
func TestManyAtOnce(t *testing.T) {
	b := openBook(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			name := fmt.Sprint("s", i)
			if v, err := b.See(context.Background(), name, "c", []Definition{tool(name, "do_"+name, "x")}); err != nil || v[0].Held {
				t.Error(v, err)
			}
		})
	}
	wg.Wait()
	list, err := b.Entries()
	if err != nil || len(list) != 24 {
		t.Error(len(list), err)
	}
}

// Whoever cannot get the lock in time holds everything.
func TestLockedOut(t *testing.T) {
	b := openBook(t)
	see(t, b, tool("calc", "sum", "adds"))
	free, err := wholefile.Lock(context.Background(), b.path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	defs := []Definition{tool("calc", "sum", "adds"), tool("calc", "product", "multiplies")}
	if v, err := b.See(ctx, "calc", "run calc", defs); err == nil || !v[0].Held || !v[1].Held {
		t.Errorf("%+v, %v", v, err)
	}
	// What is known needs no lock.
	held(t, see(t, b, defs[0])[0], "", "")
	if err := free(); err != nil {
		t.Fatal(err)
	}
	held(t, see(t, b, defs...)[1], "", "")
}
