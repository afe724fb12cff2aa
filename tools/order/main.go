// Order runs tests of a copy of the program in which things happen in another order:
// before and after whatever goroutines wait for each other by, one may sleep for a
// moment. What fails there can fail anywhere, once in a long while: by a fault of the
// program, or of a test that does not wait for what it needs.
//
//	order -root DIR [-seeds 3] [-first 1] PACKAGES…
//
// A seed says at which points the sleeps are frequent. Within a run they come by
// chance, so a seed that failed fails often, not always.
package main

import (
	"context"
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
)

func main() {
	root := flag.String("root", "..", "the repository")
	seeds := flag.Int("seeds", 3, "how many seeds to try")
	first := flag.Int("first", 1, "the first seed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *root, *first, *seeds, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, first, seeds int, packages []string) error {
	if len(packages) == 0 {
		return errors.New("no packages (order -root DIR PACKAGES…)")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, ".cache", "order")
	if err := copied(ctx, root, dir); err != nil {
		return err
	}
	n, err := weave(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%d points, in %s\n", n, dir)
	failed := 0
	for seed := first; seed < first+seeds && ctx.Err() == nil; seed++ {
		c := exec.CommandContext(ctx, "go", append([]string{"test", "-short", "-count=1", "-vet=off", "-timeout=20m"}, packages...)...)
		c.Dir, c.Stdout, c.Stderr = dir, os.Stdout, os.Stderr
		c.Env = append(os.Environ(), "FLOODMARK_ORDER="+strconv.Itoa(seed))
		if err := c.Run(); err != nil {
			failed++
			fmt.Printf("seed %d FAILED: %v\n", seed, err)
			continue
		}
		fmt.Printf("seed %d passed\n", seed)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d seeds failed", failed, seeds)
	}
	return ctx.Err()
}

// copied copies what git knows of, and what is new, to a folder of its own.
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
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted, but not yet in git
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
