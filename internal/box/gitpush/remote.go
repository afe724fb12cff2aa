package gitpush

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/box/boxgit"
	"github.com/floodmark/floodmark/internal/box/pushreview"
)

// A ref is a reference of a remote.
type ref struct{ name, id string }

// owners returns the environment for a git that contacts a remote as the owner: with the owner's
// settings and keys, without those of any project, and without asking for a password.
func (c *Copy) owners() []string {
	env := []string{
		"PATH=" + strings.Join(boxgit.Folders(), ":"), "HOME=" + c.cfg.Home, "LC_ALL=C", "GIT_DIR=" + c.dir, "GIT_NO_REPLACE_OBJECTS=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=never",
		"GIT_ALLOW_PROTOCOL=https:http:ssh:file", "GCM_INTERACTIVE=never",
	}
	return append(env, c.cfg.Environ...)
}

// outward runs a git command that contacts a remote.
func (c *Copy) outward(ctx context.Context, patience time.Duration, args ...string) ([]byte, error) {
	if c.cfg.Patience > 0 {
		patience = c.cfg.Patience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	own := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "push.pushOption=", "-c", "push.gpgSign=false", "-c", "push.followTags=false",
		"-c", "submodule.recurse=false", "-c", "push.recurseSubmodules=no", "-c", "core.alternateRefsCommand=true", "-c", "protocol.version=0", "-c", "http.followRedirects=false",
	}
	cmd := exec.CommandContext(ctx, c.cfg.Git, append(own, args...)...)
	cmd.Dir, cmd.Env = c.dir, append(c.owners(), c.borrowed...)
	alone(cmd)
	return said(cmd)
}

// ask returns the references that a remote claims to have. A false claim only makes the push send
// less, because objects that the remote claims to have are not copied.
func (c *Copy) ask(ctx context.Context, address string) ([]ref, error) {
	out, err := c.outward(ctx, looks, append(atRemote("ls-remote", address), "--", address)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	var list []ref
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !pushreview.IsID(id) {
			return nil, fmt.Errorf("%w in a way that can be read", ErrRemote)
		}
		if list = append(list, ref{name, id}); len(list) > maxRefs {
			return nil, fmt.Errorf("%w: the remote has more than %d references", pushreview.ErrTooMuch, maxRefs)
		}
	}
	return list, nil
}

// atRemote returns the beginning of a git command. If the remote is a repository on this machine,
// its options keep git from running what that repository's settings name, because it would run as
// the monitor: hooks, filters (a push that would change a working tree is refused), and automatic
// maintenance.
func atRemote(verb, address string) []string {
	if !filepath.IsAbs(address) && !strings.HasPrefix(address, "file://") {
		return []string{verb}
	}
	const quiet = "git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=true -c core.fsmonitor=false " +
		"-c receive.denyCurrentBranch=refuse -c receive.autogc=false "
	if verb == "push" {
		return []string{verb, "--receive-pack=" + quiet + "receive-pack"}
	}
	return []string{verb, "--upload-pack=" + quiet + "upload-pack"}
}

// plan finds the commits that are new to the remote.
func (c *Copy) plan(ctx context.Context, src Source, refs []ref) (pushreview.Plan, error) {
	p := pushreview.Plan{Address: src.Address, Branch: src.Branch, Commit: src.Commit}
	var tips []string
	head := ""
	for _, r := range refs {
		switch r.name {
		case "refs/heads/" + src.Branch:
			p.Old = r.id
		case "HEAD":
			head = r.id
		}
		if len(r.id) == len(src.Commit) {
			tips = append(tips, r.id)
		}
	}
	if p.Old == src.Commit {
		return p, ErrNothing
	}
	known, err := c.known(ctx, src.Objects, tips)
	if err != nil {
		return p, err
	}
	if p.Old != "" && !slices.Contains(known, p.Old) {
		return p, pushreview.ErrNotForward
	}
	if head != "" && !slices.Contains(known, head) && c.fetch(ctx, src) == nil {
		if known, err = c.known(ctx, src.Objects, tips); err != nil {
			return p, err
		}
	}
	if len(known) == 0 && len(tips) > 0 {
		return p, ErrNotFetched
	}
	if p.New, err = c.list(ctx, src, known, "rev-list", fmt.Sprintf("--max-count=%d", pushreview.MaxCommits+1), "--stdin"); err != nil {
		return p, err
	}
	if len(p.New) == 0 {
		return p, ErrBranchOnly
	}
	p.Base = p.Old
	if p.Base == "" && head != "" && slices.Contains(known, head) {
		base, err := c.run(ctx, src.Objects, nil, "merge-base", src.Commit, head)
		if id := strings.TrimSpace(string(base)); err == nil && pushreview.IsID(id) {
			p.Base = id
			return p, c.lead(ctx, src, id, head)
		}
	}
	return p, nil
}

// maxLead bounds how many commits the remote's default branch may be ahead of the base of a push.
const maxLead = 10_000

// lead finds the commits between the base of a push and the head of the remote's default branch.
// Without them, git could not tell in our copy that the remote has the base.
func (c *Copy) lead(ctx context.Context, src Source, base, head string) error {
	out, err := c.run(ctx, src.Objects, nil, "rev-list", "--ancestry-path", fmt.Sprintf("--max-count=%d", maxLead), base+".."+head)
	c.leads = strings.Fields(string(out))
	return err
}

// fetch fetches into our copy the commits of the remote's default branch that the project does not
// have. Without them, a review would show commits of others as new to the remote.
func (c *Copy) fetch(ctx context.Context, src Source) error {
	c.borrowed = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + src.Objects}
	defer func() { c.borrowed = nil }()
	args := append(atRemote("fetch", src.Address), "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
		"--no-write-commit-graph", "--negotiation-tip="+src.Commit, "--", src.Address, "HEAD")
	_, err := c.outward(ctx, looks, args...)
	return err
}

// known returns the ids that are commits of the project.
func (c *Copy) known(ctx context.Context, objects string, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := c.run(ctx, objects, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == pushreview.Commit && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list, nil
}

// list runs a git command that lists the commits that are reachable from src.Commit and not from
// others.
func (c *Copy) list(ctx context.Context, src Source, others []string, args ...string) ([]string, error) {
	input := src.Commit + "\n"
	for _, id := range others {
		input += "^" + id + "\n"
	}
	out, err := c.run(ctx, src.Objects, []byte(input), args...)
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Push pushes what was reviewed. It returns what the remote said.
func (c *Copy) Push(ctx context.Context) (string, error) {
	p := c.Review.Plan
	target := "refs/heads/" + p.Branch
	args := append(atRemote("push", p.Address), "--no-verify", "--porcelain", "--no-recurse-submodules", "--no-follow-tags",
		// The push only succeeds if the branch is where it was at the review. The review has
		// checked that the commit follows it, so nothing is forced.
		"--force-with-lease="+target+":"+c.old, "--", p.Address, p.Commit+":"+target)
	out, err := c.outward(ctx, pushes, args...)
	text := floodmark.OneLine(strings.ReplaceAll(string(out), p.Address, pushreview.Shown(p.Address)), 300)
	if err != nil && text == "" { // git reported no branch, so the connection or login failed
		err = fmt.Errorf("%w: %w", ErrLogin, err)
	}
	return text, err
}
