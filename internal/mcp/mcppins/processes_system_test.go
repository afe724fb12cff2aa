//go:build unix

package mcppins

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// Writers that are killed at any moment leave a file that can be read, and no process waits for a
// dead one. They are killed in the middle of their work, after a number of writes.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pins")
	for round := range 8 {
		var writers [2]*exec.Cmd
		said, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		for i := range writers {
			writers[i] = exec.Command(self)
			writers[i].Env = append(os.Environ(), pinsVariable+"="+path)
			writers[i].Stdout, writers[i].Stderr = out, os.Stderr
			if err := writers[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		_ = out.Close()
		lines := bufio.NewScanner(said)
		for range 5 + 3*round {
			if !lines.Scan() {
				t.Fatal("the writers gave up")
			}
		}
		for _, w := range writers {
			if err := w.Process.Kill(); err != nil {
				t.Error(err)
			}
			if _ = w.Wait(); w.ProcessState.Exited() {
				t.Error("a writer gave up")
			}
		}
		_ = said.Close()
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b.builtins = shipped
		name := fmt.Sprint("after", round)
		held(t, see(t, b, tool(name, name, "x"))[0], "", "")
	}
}
