// Order runs tests of a copy of the program in which things happen in another order: before and
// after the statements by which goroutines wait for each other, a goroutine may sleep for a moment.
// A failure there can also happen without the sleeps, only rarely. Its cause is a bug in the
// program, or in a test that does not wait for what it needs.
//
//	order -root DIR [-seeds 3] [-first 1] [-json FILE] PACKAGES…
//
// The seed determines at which points sleeps are frequent. When they happen within a run is random,
// so a seed that failed will fail often, but not always.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	root := flag.String("root", "..", "the repository")
	seeds := flag.Int("seeds", 3, "how many seeds to try")
	first := flag.Int("first", 1, "the first seed")
	evidence := flag.String("json", "", "write what was run, and which seeds failed, to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	r, err := run(ctx, *root, *first, *seeds, flag.Args())
	if *evidence != "" && ctx.Err() == nil {
		err = errors.Join(err, r.write(*evidence))
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		os.Exit(1)
	}
}

// A report is the result of a run of several seeds.
type report struct {
	Suite    string   `json:"suite"`
	Commit   string   `json:"commit"`
	Points   int      `json:"points"` // the points at which a goroutine may sleep
	Packages []string `json:"packages"`
	First    int      `json:"first_seed"`
	Seeds    int      `json:"seeds"`
	Failed   []int    `json:"failed_seeds"`
	Seconds  int      `json:"seconds"`
}

func (r report) write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

func run(ctx context.Context, root string, first, seeds int, packages []string) (report, error) {
	r := report{Suite: "order", Packages: packages, First: first, Seeds: seeds, Failed: []int{}}
	if len(packages) == 0 {
		return r, errors.New("no packages (order -root DIR PACKAGES…)")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return r, err
	}
	head, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		return r, fmt.Errorf("git rev-parse: %w", err)
	}
	r.Commit = strings.TrimSpace(string(head))
	began, dir := time.Now(), filepath.Join(root, ".cache", "order")
	skip, err := systemTests(root)
	if err != nil {
		return r, err
	}
	if err := copied(ctx, root, dir); err != nil {
		return r, err
	}
	if r.Points, err = weave(dir); err != nil {
		return r, err
	}
	fmt.Printf("%d points, in %s\n", r.Points, dir)
	for seed := first; seed < first+seeds && ctx.Err() == nil; seed++ {
		c := exec.CommandContext(ctx, "go", append([]string{"test", "-short", "-count=1", "-vet=off", "-timeout=30m", "-skip=" + skip}, packages...)...)
		c.Dir, c.Stdout, c.Stderr = dir, os.Stdout, os.Stderr
		c.Env = append(os.Environ(), "FLOODMARK_ORDER="+strconv.Itoa(seed))
		if err := c.Run(); err != nil {
			r.Failed = append(r.Failed, seed)
			fmt.Printf("seed %d FAILED: %v\n", seed, err)
			continue
		}
		fmt.Printf("seed %d passed\n", seed)
	}
	r.Seconds = int(time.Since(began).Seconds())
	if len(r.Failed) > 0 {
		return r, fmt.Errorf("%d of %d seeds failed", len(r.Failed), seeds)
	}
	return r, ctx.Err()
}

// systemTests returns a pattern of the tests that start programs built without points.
func systemTests(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, ".ci", "system"))
	if err != nil {
		return "", err
	}
	names := []string{"TestHouse"}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] != "#" {
			names = append(names, f[1])
		}
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}

// copied copies the files that git tracks, and new ones, to another folder.
func copied(ctx context.Context, root, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z")
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // a deleted file that git still tracks
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, info.Mode().Perm()))
}
