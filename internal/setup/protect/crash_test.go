package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// errKilled plays a SIGKILL. Nothing runs after it.
var errKilled = errors.New("killed")

// kill applies a plan and stops before its nth step. It reports whether the plan has so many steps.
func kill(p *Plan, n int) (killed bool) {
	defer func() {
		if r := recover(); r != nil {
			if err, is := r.(error); !is || !errors.Is(err, errKilled) {
				panic(r)
			}
			killed = true
		}
	}()
	step := 0
	p.step = func(string) {
		if step++; step > n {
			panic(errKilled)
		}
	}
	if err := p.Apply(); err != nil {
		panic(err)
	}
	return false
}

// everySort returns a home with agents of every sort, whose settings are hard to edit.
func everySort(t *testing.T) *bench {
	t.Helper()
	return everySortIn(t, t.TempDir())
}

func everySortIn(t *testing.T, dir string) *bench {
	t.Helper()
	b := benchIn(t, dir)
	for _, name := range []string{"codex", "gemini-cli", "opencode", "pi"} {
		for _, f := range b.have(name) {
			switch f.sort {
			case jsonPart, lockPart:
				text := "\t{ \"mine\": [ 1 ] ,\n\n\"hooks\" : {} }"
				if !f.strict {
					text = "// mine\n" + text
				}
				b.write(f.path, text)
			case tomlPart:
				b.write(f.path, "web_search = \"live\"\n[features]\nx = 1")
			case whole:
			}
		}
	}
	return b
}

// If protect is killed at any step, each file is either the old or the new one. Then protect can
// finish, and unprotect can undo everything.
func TestKilledAtEveryStep(t *testing.T) {
	whole := everySort(t)
	before := whole.tree()
	whole.apply(whole.protect())
	after := whole.tree()
	steps := 0
	for n := 0; ; n++ {
		b := everySort(t)
		old, fresh := relocated(b, whole, before), relocated(b, whole, after)
		if !kill(b.protect(), n) {
			break
		}
		steps++
		b.oldOrNew(old, fresh, fmt.Sprintf("protect killed at step %d", n))
		if n%2 == 0 {
			b.apply(b.protect())
			b.like(fresh, fmt.Sprintf("protect after step %d", n))
		}
		b.apply(b.unprotect())
		b.like(old, fmt.Sprintf("unprotect after step %d", n))
	}
	for n := 0; ; n++ {
		b := everySort(t)
		old, fresh := relocated(b, whole, before), relocated(b, whole, after)
		b.apply(b.protect())
		if !kill(b.unprotect(), n) {
			break
		}
		steps++
		b.oldOrNew(old, fresh, fmt.Sprintf("unprotect killed at step %d", n))
		if n%2 == 0 {
			b.apply(b.unprotect())
			b.like(old, fmt.Sprintf("unprotect after step %d", n))
			continue
		}
		b.apply(b.protect())
		b.like(fresh, fmt.Sprintf("protect after a broken unprotect at step %d", n))
		b.apply(b.unprotect())
		b.like(old, fmt.Sprintf("unprotect after all at step %d", n))
	}
	if steps < 25 {
		t.Errorf("only %d steps: is each file one?", steps)
	}
}

// relocated returns the tree of one bench as it would be in the home of another.
func relocated(b, of *bench, tree map[string]string) map[string]string {
	out := map[string]string{}
	for path, text := range tree {
		text = strings.ReplaceAll(text, of.env["HOME"], b.env["HOME"])
		out[path] = text
	}
	return out
}

func (b *bench) like(want map[string]string, what string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.tree()); diff != "" {
		b.t.Fatalf("%s: %s", what, diff)
	}
}

// oldOrNew checks each file by itself.
func (b *bench) oldOrNew(old, fresh map[string]string, what string) {
	b.t.Helper()
	for path, text := range b.tree() {
		if strings.HasSuffix(path, wholefile.FreshSuffix) {
			continue // no agent reads this file, and the next run removes it
		}
		if text != old[path] && text != fresh[path] {
			b.t.Fatalf("%s: %s is neither the old nor the new one: %s", what, path, text)
		}
	}
	for path := range old {
		if _, err := os.Lstat(filepath.Join(b.env["HOME"], path)); err != nil {
			b.t.Fatalf("%s: %v", what, err)
		}
	}
}

// A file that was being written at a power cut is not used as a settings file, and the next run
// removes it.
func TestHalfAFileIsCleared(t *testing.T) {
	b := newBench(t)
	path := b.have("gemini-cli")[0].path
	b.write(path, "{}")
	b.write(path+wholefile.FreshSuffix, "{\"ha")
	b.apply(b.protect())
	if _, err := os.Stat(path + wholefile.FreshSuffix); err == nil {
		t.Error("it is still there")
	}
	b.apply(b.unprotect())
	if got := b.read(path); got != "{}" {
		t.Errorf("got %q", got)
	}
}

// Only one process at a time may change settings, because two would treat each other's changes as a
// person's.
func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	b.have("pi")
	p := b.protect()
	unlock, err := lock(b.Records)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	b.apply(p)
	if b.state("pi") != Protected {
		t.Error("not protected")
	}
}

// A file that was changed after the plan was made is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	b := newBench(t)
	path := b.have("gemini-cli")[0].path
	b.write(path, "{}")
	p := b.protect()
	b.write(path, "{\"new\": 1}")
	if err := p.Apply(); err == nil || !strings.Contains(err.Error(), ErrMeanwhile.Error()) {
		t.Errorf("got %v", err)
	}
	if got := b.read(path); got != "{\"new\": 1}" {
		t.Errorf("got %q", got)
	}
}
