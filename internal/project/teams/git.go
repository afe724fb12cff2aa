package teams

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

// The limits of one fetch.
const (
	fetchTime  = 2 * time.Minute
	maxCommits = 4 << 20
	maxSaid    = 400 // bytes of git's error message that are returned
)

// A git runs git with the owner's settings and without those of any project.
type git struct {
	home string
}

// fetch brings the default branch of the repository at an address into a folder of ours: commits
// only, if the server can filter. Unless first is empty, it must be the first commit of the branch,
// because there may be another repository at the address now.
func (g git) fetch(ctx context.Context, dir, address, first string) (tip string, commits []string, root string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		if _, err := g.run(ctx, "", "init", "--quiet", "--bare", dir); err != nil {
			return "", nil, "", err
		}
	}
	// The commits are fetched to a ref of our own, and only used after it is checked that they
	// belong to the repository.
	if _, err := g.run(ctx, dir, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--filter=tree:0", "--end-of-options", address, "+HEAD:refs/fetched/tip"); err != nil {
		return "", nil, "", fmt.Errorf("%w: %w", ErrAddress, err)
	}
	roots, err := g.run(ctx, dir, "rev-list", "--max-parents=0", "refs/fetched/tip")
	if err != nil {
		return "", nil, "", err
	}
	found := strings.Fields(roots)
	switch {
	case len(found) == 0:
		return "", nil, "", fmt.Errorf("%w: it has no commits", ErrAddress)
	case first == "":
		first = found[len(found)-1]
	case !slices.Contains(found, first):
		return "", nil, "", fmt.Errorf("%w: its history does not begin with %.12s", ErrOther, first)
	}
	all, err := g.run(ctx, dir, "rev-list", fmt.Sprintf("--max-count=%d", maxCommits), "refs/fetched/tip")
	if err != nil {
		return "", nil, "", err
	}
	commits = strings.Fields(all)
	return commits[0], commits, first, nil
}

// run runs git once and returns what it prints.
func (g git) run(ctx context.Context, dir string, args ...string) (string, error) {
	settings := []string{"-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "protocol.allow=never"}
	for _, way := range ways() {
		settings = append(settings, "-c", "protocol."+way+".allow=always")
	}
	if dir != "" {
		settings = append(settings, "--git-dir="+dir)
	}
	cmd := exec.CommandContext(ctx, cmp.Or(boxgit.Find(), "git"), append(settings, args...)...)
	cmd.Dir = os.TempDir()
	if dir != "" {
		cmd.Dir = dir
	}
	cmd.Env = g.environment(os.Environ())
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
		}
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
			return "", fmt.Errorf("git %s: %.*q", args[0], maxSaid, line)
		}
		return "", err
	}
	return out.String(), nil
}

// environment returns the monitor's environment without the variables that change what git does,
// and with settings that keep git from asking on a terminal. The machine's own folders come first
// on PATH, because the monitor may have been started with a project's folders on it.
func (g git) environment(all []string) []string {
	folders := boxgit.Folders()
	for _, v := range all {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			folders = append(folders, slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })...)
		}
	}
	env := slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "PATH=") || strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "SSH_ASKPASS") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	return append(env, "PATH="+strings.Join(folders, string(filepath.ListSeparator)), "HOME="+g.home, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=4", "LC_ALL=C")
}
