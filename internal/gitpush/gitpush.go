// Package gitpush pushes commits in the owner's name, after a person has looked at them.
// It runs git in a repository of its own, into which it copies nothing but the objects
// that were shown: no setting, hook, attribute or reference of the project is read, and
// what is not in that repository cannot be sent, whatever the remote claims to have. It
// never forces a push.
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
	"github.com/floodmark/floodmark/internal/boxgit"
	"github.com/floodmark/floodmark/internal/pushreview"
)

// A Config says whose pushes these are.
type Config struct {
	// Git is the program; Folder is where its repositories are made: only the owner may
	// look into it.
	Git, Folder string
	// Home is the owner's: how to log in is said there. Environ are variables that reach
	// the owner's keys, such as SSH_AUTH_SOCK.
	Home    string
	Environ []string
	// Patience is how long the remote may take; zero: ten seconds to look, and two
	// minutes to push.
	Patience time.Duration
}

// A Source is what is pushed: a commit that is checked out on a branch, in a folder of
// git's objects, and where it goes.
type Source struct{ Objects, Address, Branch, Commit string }

// The limits of what a remote says.
const (
	maxRefs  = 20000
	maxSaid  = 4 << 20 // bytes of one answer
	looks    = 10 * time.Second
	pushes   = 2 * time.Minute
	computes = 20 * time.Second
)

var (
	// ErrNothing says that the remote has the commit already.
	ErrNothing = errors.New("the remote has this commit already: there is nothing to push")
	// ErrAddress says that an address is of a sort that is not pushed to.
	ErrAddress = errors.New("not an address that can be pushed to from here")
	// ErrRemote says that the remote could not be asked.
	ErrRemote = errors.New("the remote does not answer, or wants a login that the monitor does not have")
	// ErrNotFetched says that nothing which the remote has is known here.
	ErrNotFetched = errors.New("nothing that the remote has was fetched here: fetch first")
	// ErrBranchOnly says that a push sends a name and nothing else.
	ErrBranchOnly = errors.New("it sends no commit, only the name of a branch")
	// ErrLogin says that the remote did not let the monitor push.
	ErrLogin = errors.New("the remote did not let the monitor push")
)

// A Copy is a repository of ours with what one push sends.
type Copy struct {
	cfg    Config
	dir    string
	Review *pushreview.Review
	old    string
	leads  []string // commits of the remote that it is given, and does not send
	// borrowed lets a git that reaches the remote read the project's objects as well.
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

// fit refuses what git could read as something else.
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

// fitBranch reports a name that git takes for a branch and for nothing else.
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

// init makes an empty repository. Its settings are all there are.
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

// local are the variables of a git that reads nothing but our repository and, if given,
// a folder of objects.
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

// strict keeps git from what lies beside objects and speaks of them.
func strict() []string {
	return []string{"-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false"}
}

// run runs git on our repository alone.
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

// A limited keeps the beginning of what is written to it.
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

// copy brings into our repository what was reviewed. Reading them under their names from a
// pack makes git hash all of them once more, with its detection of collisions. Git's own
// check of objects would want files that are not sent, such as an old .gitmodules.
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
