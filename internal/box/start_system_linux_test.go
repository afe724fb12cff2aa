package box_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
)

var bwrap = flag.String("bwrap", "bwrap", "the bubblewrap that BenchmarkStart compares a box with")

// BenchmarkStart shows how long a command that does nothing takes: plain, by
// bubblewrap with the mounts of a box, and in a box. The three take turns, so that
// a busy machine is as busy for each. One iteration is one start of each.
//
//	go test ./internal/box -run - -bench Start -benchtime 100x
func BenchmarkStart(b *testing.B) {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := &box.Spec{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home"), Folder: filepath.Join(root, "box")}
	if err := os.MkdirAll(s.Project, 0o755); err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(root, "floodmark-box")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/floodmark-box").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	p, nothing := newPrograms(b, program), []string{"sh", "-c", ":"}
	plain := func(args ...string) func() *exec.Cmd {
		return func() *exec.Cmd { return exec.Command(args[0], args[1:]...) }
	}
	kinds := map[string]func() *exec.Cmd{
		"plain": plain(nothing...),
		"box":   func() *exec.Cmd { c, _ := p.boxed(b, s, nothing...); return c },
	}
	if _, err := exec.LookPath(*bwrap); err == nil {
		kinds["bwrap"] = plain(append(s.Bubblewrap(*bwrap), nothing...)...)
	}
	taken := map[string][]time.Duration{}
	for b.Loop() {
		for kind, command := range kinds {
			c := command()
			c.Dir, c.Stderr = s.Project, os.Stderr
			begun := time.Now()
			if err := c.Run(); err != nil {
				b.Fatal(err)
			}
			taken[kind] = append(taken[kind], time.Since(begun))
		}
	}
	for kind, list := range taken {
		slices.Sort(list)
		b.ReportMetric(list[0].Seconds()*1000, kind+"-min-ms")
		b.ReportMetric(list[len(list)/2].Seconds()*1000, kind+"-p50-ms")
	}
}
