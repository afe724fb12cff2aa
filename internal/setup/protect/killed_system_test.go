package protect

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

var (
	victim     = flag.String("victim", "", "be killed while changing the settings below this folder")
	victimStep = flag.Int("victim-step", 0, "where: before so many files take the place of the old ones")
	victimUndo = flag.Bool("victim-undo", false, "while taking it back")
	victimMCP  = flag.Bool("victim-servers", false, "those of tool servers")
)

// beKilled runs in the process that TestKilledBeforeTheRename starts, and kills that process.
func beKilled(t *testing.T) {
	t.Helper()
	b := benchIn(t, *victim)
	n := 0
	var plan *Plan
	switch {
	case *victimMCP && *victimUndo:
		plan = b.unwrap()
	case *victimMCP:
		b.Program = testProgram
		plan = b.wrap()
	case *victimUndo:
		plan = b.unprotect()
	default:
		plan = b.protect()
	}
	plan.step = func(what string) {
		if !strings.HasPrefix(what, "rename ") {
			return
		}
		if n++; n > *victimStep {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
	}
	b.apply(plan)
}

// TestKilledBeforeTheRename starts this test program again, which is killed before a rename, and
// checks the files that are left.
func TestKilledBeforeTheRename(t *testing.T) {
	if *victim != "" {
		beKilled(t)
		return
	}
	t.Parallel()
	t.Run("hooks", hooksKilledBeforeTheRename)
	t.Run("servers", serversKilledBeforeTheRename)
}

// If a process is killed when the new file is beside the old one, each file is either the old or
// the new one. Then protect can finish, and unprotect leaves nothing behind.
func hooksKilledBeforeTheRename(t *testing.T) {
	whole := everySort(t)
	before := whole.tree()
	whole.apply(whole.protect())
	after := whole.tree()
	kills := 0
	for _, undo := range []bool{false, true} {
		for n := 0; ; n++ {
			dir, what := t.TempDir(), fmt.Sprintf("undo %v, killed at file %d", undo, n)
			b := everySortIn(t, dir)
			old, fresh := relocated(b, whole, before), relocated(b, whole, after)
			if undo {
				b.apply(b.protect())
			}
			if !killedIn(t, dir, n, undo) {
				break
			}
			kills++
			b.oldOrNew(old, fresh, what)
			if left := leftovers(b); left != 1 {
				t.Fatalf("%s: %d files lie beside others: it was not killed there", what, left)
			}
			if n%2 == 0 {
				b.apply(b.protect())
				b.like(fresh, what+", protected")
			}
			b.apply(b.unprotect())
			b.like(old, what+", undone")
		}
	}
	if kills < 8 {
		t.Errorf("killed only %d times", kills)
	}
}

// The same for tool servers, beside hooks: a real process, really killed.
func serversKilledBeforeTheRename(t *testing.T) {
	kills := 0
	for _, undo := range []bool{false, true} {
		for n := 0; ; n++ {
			dir, what := t.TempDir(), fmt.Sprintf("undo %v, killed at file %d", undo, n)
			b := benchIn(t, dir)
			b.Program = testProgram
			b.write(b.have("codex")[1].path, nastyServers("codex")["table"])
			b.write(b.have("gemini-cli")[0].path, nastyServers("gemini-cli")["usual"])
			before := b.tree()
			b.apply(b.protect())
			old := b.tree()
			b.apply(b.wrap())
			fresh := b.tree()
			if !undo {
				b.apply(b.unwrap())
			}
			if !killedIn(t, dir, n, undo, "-victim-servers") {
				break
			}
			kills++
			b.oldOrNew(old, fresh, what)
			if n%2 == 0 {
				b.apply(b.unwrap())
				b.like(old, what+", given back")
			}
			b.apply(b.unprotect())
			b.like(before, what+", all given back")
			b.forgotten(what)
		}
	}
	if kills < 4 {
		t.Errorf("killed only %d times", kills)
	}
}

func leftovers(b *bench) (n int) {
	for path := range b.tree() {
		if strings.HasSuffix(path, wholefile.FreshSuffix) {
			n++
		}
	}
	return n
}

// killedIn runs a process that is to be killed, and reports whether it was.
func killedIn(t *testing.T, dir string, step int, undo bool, more ...string) bool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run=^TestKilledBeforeTheRename$", "-victim", dir, fmt.Sprint("-victim-step=", step), fmt.Sprint("-victim-undo=", undo)}, more...)...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	died, is := errors.AsType[*exec.ExitError](err)
	if !is {
		t.Fatal(err)
	}
	if status, is := died.Sys().(syscall.WaitStatus); !is || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, out)
	}
	return true
}
