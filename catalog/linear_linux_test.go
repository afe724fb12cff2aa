package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/hook"
)

// A long command line costs little, however it is built: the time grows with
// its length, not with its square.
func TestLongLinesCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	c := shipped(t)
	const size = 200 << 10
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	var names strings.Builder
	for i := 0; names.Len() < size-8; i++ {
		fmt.Fprintf(&names, " f%d", i)
	}
	for name, line := range map[string]string{
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
	} {
		line = line[:min(len(line), size)]
		took := func(line string) time.Duration {
			leaves := args("command", line)
			if name == "deep workdir" {
				leaves = append(leaves, hook.Leaf{Path: "workdir", Top: "workdir", Value: strings.Repeat("a/", MaxPathBytes/2)})
			}
			begin := time.Now()
			c.Classify(builtin("openclaw", "exec"), leaves, nil, here())
			return time.Since(begin)
		}
		// Linear ways take a tenth of a second at most here. The limit leaves
		// room for a busy machine, and none for a square.
		if whole := took(line); whole > 10*time.Second {
			t.Errorf("%s: %v for %d bytes", name, whole, len(line))
		}
	}
}
