// Package gitpush pushes commits in the owner's name, after a person has looked at them. It runs
// git in a repository of its own, into which it copies nothing but the objects that were shown. So
// no setting, hook, attribute or reference of the project is read, and an object that was not shown
// cannot be sent, whatever the remote claims to have. It never forces a push.
package gitpush

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/box/boxgit"
	"github.com/floodmark/floodmark/internal/box/pushreview"
)

// A Config holds the settings for pushes in one owner's name.
type Config struct {
	// Git is the path of git. Folder is where Prepare makes its repositories; only the owner may
	// read it.
	Git, Folder string
	// Home is the owner's home, with the settings for logging in. Environ are variables that give
	// access to the owner's keys, such as SSH_AUTH_SOCK.
	Home    string
	Environ []string
	// Patience is how long the remote may take; zero: ten seconds to list or fetch, and two minutes
	// to push.
	Patience time.Duration
}

// A Source is what is pushed, and where: Commit is checked out on Branch, Objects is the project's
// folder of git objects, and Address is the remote.
type Source struct{ Objects, Address, Branch, Commit string }

// The limits of a push.
const (
	maxRefs  = 20000
	maxSaid  = 4 << 20 // bytes of one answer
	looks    = 10 * time.Second
	pushes   = 2 * time.Minute
	computes = 20 * time.Second
)

var (
	// ErrNothing means that the remote has the commit already.
	ErrNothing = errors.New("the remote has this commit already: there is nothing to push")
	// ErrAddress means that an address has a form or protocol that is not pushed to.
	ErrAddress = errors.New("not an address that can be pushed to from here")
	// ErrRemote means that the remote's references could not be listed.
	ErrRemote = errors.New("the remote does not answer, or wants a login that the monitor does not have")
	// ErrNotFetched means that the project has none of the remote's commits.
	ErrNotFetched = errors.New("nothing that the remote has was fetched here: fetch first")
	// ErrBranchOnly means that a push would send only the name of a branch, and no commit.
	ErrBranchOnly = errors.New("it sends no commit, only the name of a branch")
	// ErrLogin means that the remote did not let the monitor push.
	ErrLogin = errors.New("the remote did not let the monitor push")
)

// A Copy is a repository of ours with the objects that one push sends.
type Copy struct {
	cfg    Config
	dir    string
	Review *pushreview.Review
	old    string
	leads  []string // commits that the remote has and that are copied, but not sent
	// borrowed are variables by which git also reads the project's objects during a fetch.
	borrowed []string
}

// Prepare reviews a push and copies what it would send. The caller closes the copy.
func Prepare(ctx context.Context, cfg Config, src Source) (*Copy, error) {
	if err := fit(src); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(cfg.Folder, "push-")
	if err != nil {
		return nil, err
	}
	c := &Copy{cfg: cfg, dir: dir}
	if err := c.prepare(ctx, src); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes the copy.
func (c *Copy) Close() error { return os.RemoveAll(c.dir) }

// fit refuses a source in which git could take a value for something else, such as an option.
func fit(src Source) error {
	odd := func(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) }
	scheme, _, named := strings.Cut(src.Address, "://")
	host, path, scp := strings.Cut(src.Address, ":")
	switch {
	case !pushreview.IsID(src.Commit):
		return fmt.Errorf("%w: the commit has no name", pushreview.ErrMalformed)
	case !fitBranch(src.Branch):
		return fmt.Errorf("%w: the name of the branch", pushreview.ErrMalformed)
	case src.Address == "" || src.Address[0] == '-' || odd(src.Address) || strings.Contains(src.Address, "::"):
		return ErrAddress
	case named && !slices.Contains([]string{"https", "http", "ssh", "file"}, scheme):
		return ErrAddress
	case !named && !filepath.IsAbs(src.Address) && (!scp || host == "" || path == "" || host[0] == '-' || strings.ContainsRune(host, '/')):
		return ErrAddress
	}
	info, err := os.Lstat(src.Objects)
	if err != nil || !info.IsDir() || !filepath.IsAbs(src.Objects) || odd(src.Objects) || strings.ContainsAny(src.Objects, `:"`) {
		return fmt.Errorf("%w: the folder of its objects", pushreview.ErrMalformed)
	}
	return nil
}

// fitBranch reports whether git can only take a name for a branch.
func fitBranch(b string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-+#@", r)
	}
	return b != "" && len(b) < 200 && b != "HEAD" && b != "@" && !strings.ContainsFunc(b, func(r rune) bool { return !plain(r) }) &&
		!strings.Contains(b, "..") && !strings.Contains(b, "//") && !strings.Contains(b, "@{") && !strings.Contains(b, "/.") &&
		!strings.ContainsRune("-./", rune(b[0])) && !strings.HasSuffix(b, "/") && !strings.HasSuffix(b, ".") && !strings.Contains(b+"/", ".lock/")
}

// prepare makes the copy: asks the remote what it has, reviews, and copies.
func (c *Copy) prepare(ctx context.Context, src Source) error {
	if err := c.init(len(src.Commit)); err != nil {
		return err
	}
	refs, err := c.ask(ctx, src.Address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, computes)
	defer cancel()
	plan, err := c.plan(ctx, src, refs)
	if err != nil {
		return err
	}
	objects, err := c.open(ctx, src.Objects)
	if err != nil {
		return err
	}
	review, err := pushreview.Make(objects, plan)
	if err = errors.Join(err, objects.close()); err != nil {
		return err
	}
	c.Review, c.old = review, plan.Old
	return c.copy(ctx, src.Objects, review.Set)
}

// init makes an empty repository with no settings but its format.
func (c *Copy) init(size int) error {
	text := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if size == 64 {
		text = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	for _, name := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(c.dir, name), 0o700); err != nil {
			return err
		}
	}
	return errors.Join(
		os.WriteFile(filepath.Join(c.dir, "config"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(c.dir, "HEAD"), []byte("ref: refs/heads/nothing\n"), 0o600),
	)
}

// local returns the environment for a git that reads only our repository and, if given, a folder of
// objects.
func (c *Copy) local(objects string) []string {
	env := []string{
		"PATH=" + strings.Join(boxgit.Folders(), ":"), "HOME=" + c.dir, "LC_ALL=C", "GIT_DIR=" + c.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none",
	}
	if objects != "" {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	}
	return env
}

// strict returns options by which git ignores index files beside the objects, which could be wrong
// about them.
func strict() []string {
	return []string{"-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false"}
}

// run runs git on our repository and, if given, a folder of objects, without a remote.
func (c *Copy) run(ctx context.Context, objects string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.cfg.Git, append(strict(), args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.local(objects), bytes.NewReader(input)
	return said(cmd)
}

// said runs a command and returns what it printed.
func said(cmd *exec.Cmd) ([]byte, error) {
	out, wrong := &limited{most: maxSaid}, &limited{most: 4096}
	cmd.Stdout, cmd.Stderr = out, wrong
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return out.b.Bytes(), fmt.Errorf("git %s: %w: %s", cmd.Args[len(cmd.Args)-1], err, floodmark.OneLine(wrong.b.String(), 300))
	}
	if out.over {
		return nil, pushreview.ErrTooMuch
	}
	return out.b.Bytes(), nil
}

// A limited keeps the first most bytes that are written to it, and drops the rest.
type limited struct {
	b    bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := min(len(p), l.most-l.b.Len())
	l.over = l.over || room < len(p)
	l.b.Write(p[:room])
	return len(p), nil
}

// copy copies the reviewed objects into our repository. They pass through a pack, so that git
// hashes each of them once more, with its detection of collisions. Git's own check of objects
// (fsck) is not used, because it would want files that are not sent, such as an old .gitmodules.
func (c *Copy) copy(ctx context.Context, objects string, set pushreview.Set) error {
	ids := strings.Join(slices.Concat(set.Send, set.Have, c.leads), "\n") + "\n"
	pack := exec.CommandContext(ctx, c.cfg.Git, append(strict(), "pack-objects", "--stdout", "-q", "--window=0", "--no-reuse-delta")...)
	pack.Dir, pack.Env, pack.Stdin = c.dir, c.local(objects), strings.NewReader(ids)
	index := exec.CommandContext(ctx, c.cfg.Git, "index-pack", "--stdin")
	index.Dir, index.Env = c.dir, c.local("")
	pipe, err := pack.StdoutPipe()
	if err != nil {
		return err
	}
	index.Stdin = pipe
	if err := pack.Start(); err != nil {
		return err
	}
	_, err = said(index)
	if err = errors.Join(err, pack.Wait()); err != nil {
		return fmt.Errorf("%w: what it sends cannot be copied: %w", pushreview.ErrMalformed, err)
	}
	there, err := c.run(ctx, "", []byte(ids), "cat-file", "--batch-check=%(objectname)")
	if err != nil || string(there) != ids {
		return fmt.Errorf("%w: what it sends is not all there", pushreview.ErrMalformed)
	}
	if len(set.Edges) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(c.dir, "shallow"), []byte(strings.Join(set.Edges, "\n")+"\n"), 0o600)
}
