package catalog

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/hook"
)

// longLines are lines of a given size, each long in another way.
func longLines(size int) map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	var names strings.Builder
	for i := 0; names.Len() < size-8; i++ {
		fmt.Fprintf(&names, " f%d", i)
	}
	return map[string]string{
		"fetches":       fill("curl a;"),
		"fetch and run": fill("curl a;./b;"),
		"interpreters":  fill("curl a|sh b;"),
		"folders":       fill("cd a;"),
		"deep folder":   "cd " + strings.Repeat("a/", 2000) + ";touch" + names.String(),
		"copies":        "true;cp" + names.String() + " " + strings.Repeat("d/", 2000),
		"long target":   "true;cp" + names.String()[:size/2] + " " + strings.Repeat("d", size/2),
		"moves":         fill("mv a b;"),
		"paths":         fill("a/b "),
		"deep workdir":  fill("a/b "),
		"wrappers":      fill("sudo "),
		"quotes":        fill("sh -c 'sh -c \"a b\"';"),
		"substitutions": fill("$(a)"),
		"open brackets": fill("$("),
		"documents":     fill("cat <<E\n"),
		"evals":         fill("eval a b;"),
		"one eval":      "eval " + fill("eval "),
		"tar":           fill("tar xf a -C b;"),
		"git":           fill("git clone a b;"),
		"variables":     fill("echo $a;"),
	}
}

// A long command line of any form costs little: the work grows with its length, not with its
// square.
func TestLongLinesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some megabytes of lines")
	}
	c := shipped(t)
	took := func(name string, size int) time.Duration {
		line := longLines(size)[name]
		leaves := args("command", line[:min(len(line), size)])
		if name == "deep workdir" {
			leaves = append(leaves, hook.Leaf{Path: "workdir", Top: "workdir", Value: strings.Repeat("a/", MaxPathBytes/2)})
		}
		return computed(t, func() { c.Classify(builtin("openclaw", "exec"), leaves, nil, here()) })
	}
	// Most lines take a tenth of a second. Where one takes long, as with the race detector, a
	// quarter of it has to take about a quarter of the time; with quadratic work it would be a
	// sixteenth.
	const size = 200 << 10
	for name := range longLines(size) {
		whole := took(name, size)
		if whole < 2*time.Second {
			continue
		}
		if quarter := took(name, size/4); whole > 8*quarter {
			t.Errorf("%s: %v for %d bytes, %v for a quarter of them", name, whole, size, quarter)
		}
	}
}

// computed returns the processor time of f, without waiting and other processes.
func computed(t *testing.T, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var begin, end unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &begin); err != nil {
		t.Fatal(err)
	}
	f()
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &end); err != nil {
		t.Fatal(err)
	}
	return time.Duration(end.Nano() - begin.Nano())
}
