package codescan_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/floodmark/floodmark/internal/codescan"
)

// Nothing that repeats makes reading slow: the work grows with the length, not with
// its square.
func TestTimeIsLinear(t *testing.T) {
	for _, l := range languages() {
		for _, unit := range []string{
			"a=", "a = b\n", "x.y", "f(", "f()", "[", "del ", "import a\n", "import ", "a ", "from a import ", "for ", "for a in b: ", "lambda ", "as ",
			"def f(a): pass\n", "f'{x}'", "'a' ", "\"", "# a\n", "open('a')\n", "f('a')\n", "a:", "x.replace(", "(a,", "case ", "@", "`${a}`", "/a/;", "<a", "a => ",
			"a=['b']\nfor a in a: open(a)\n", "p='a'+p\n", "\\", "{", "}", "${", "`", "/*", "import 'a'\n", "function f(a){}\n", "x[a]\n", "x[i];", "fs.readFileSync(p);", "x[i + 1];", "//a\n", ".format(",
		} {
			took := func(size int) time.Duration {
				text := strings.Repeat(unit, size/len(unit))
				if l != codescan.Python {
					text = "let i = 0; const p = 'a'; " + text
				}
				return computed(t, func() { codescan.Script(l, text); codescan.Inert(l, text) })
			}
			// Most take some hundredths of a second. Where one takes long, a quarter
			// has to take about a quarter: of a square it is a sixteenth.
			const size = 1 << 17
			if whole := took(size); whole > time.Second {
				if quarter := took(size / 4); whole > 8*quarter {
					t.Errorf("%s: %q took %v, and %v for a quarter of it", l, unit, whole, quarter)
				}
			}
		}
	}
}

// computed is for how long f computed on a processor. What else a machine does, and
// that it lets f wait, is not in it.
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
