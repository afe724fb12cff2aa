package boxgit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A Repository is the repository of a project in which a command ran.
type Repository struct {
	Git    string // its folder
	Folder string // does not exist yet; Check makes it for its work and removes it
	// Guards reports whether the project refuses to keep a file at this path from a command.
	Guards func(path string) bool
	// Has reports whether the project has a file with this mode and content at the path, both as
	// git names them. With an empty mode it reports whether there is no file at the path.
	Has func(path, mode, id string) bool
	// Lies is like Has, but for the project as it will be once all changes of the command are moved
	// in.
	Lies func(path, mode, id string) bool
}

// Check returns for each change the reason why it is not kept, or an empty string. It marks the
// lines that a command added to HEAD's log. All processes that could change the files must be gone.
func (r *Repository) Check(changes []Change) []string {
	why := make([]string, len(changes))
	var objects []Change
	var torn error
	room, history := int64(maxContent), false
	for i, c := range changes {
		kind := c.part()
		if kind != ended {
			why[i] = Refuses(c.Path, c.Is == AFolder || c.Is == AFreshFolder)
		}
		history = history || c.history()
		switch {
		case c.Stale && kind != object:
			torn = errors.New(oneLine(c.Path) + " was changed while the command ran: make the call again")
		case kind == undone || kind == packed:
			torn = errors.New(oneLine(path.Base(c.Path)) + " is not kept: " + why[i])
		case strings.HasPrefix(c.Path, "objects/") && c.Is == Gone:
			why[i] = "no object is removed"
		case c.Path == "logs" || c.Path == "logs/HEAD":
			if err := r.grows(&c); err != nil {
				torn = err
			}
		case kind == object:
			var err error
			if room, err = verify(c.From, strings.ReplaceAll(strings.TrimPrefix(c.Path, "objects/"), "/", ""), room); err != nil {
				why[i], torn = err.Error(), err
				continue
			}
			objects = append(objects, c)
		}
	}
	if !history {
		return why
	}
	if torn == nil {
		torn = r.whole(changes, objects)
	}
	for i, c := range changes {
		if torn != nil && c.history() {
			why[i] = "the history is not kept: " + torn.Error()
		}
	}
	return why
}

// longest bounds the time of all git commands of one check, which need far less.
const longest = 2 * time.Minute

// whole checks the history as it would be with the changes.
func (r *Repository) whole(changes, objects []Change) error {
	before, err := readRefs(r.Git)
	if err != nil {
		return err
	}
	after, err := before.after(changes)
	if err != nil {
		return err
	}
	tips, err := named(changes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	if err := os.Mkdir(r.Folder, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(r.Folder)
	g, err := r.scratch(ctx, objects)
	if err != nil {
		return err
	}
	if err := r.commits(g, before, after, tips); err != nil {
		return err
	}
	for _, c := range changes {
		if c.Path == "index" {
			return r.entries(g, c.From)
		}
	}
	return nil
}

// named returns the commits that are named by files other than refs: commits that are being merged,
// and the commits of the stash.
func named(changes []Change) (ids []string, err error) {
	for _, c := range changes {
		stash := c.Path == "logs/refs/stash"
		if c.Is != AFile || c.Path == "AUTO_MERGE" || !stash && c.part() != head {
			continue // AUTO_MERGE names a tree, which git only uses for comparisons
		}
		data, err := read(c.From, maxList)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(data) {
			id := strings.TrimSuffix(string(line), "\n")
			if stash && len(id) > 2*idLength {
				id = id[idLength+1 : 2*idLength+1]
			}
			if !isID(id) {
				return nil, fmt.Errorf("%s names no commit", oneLine(c.Path))
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// A scratch runs git in a repository of our own that contains only objects, so that no settings,
// replaced objects, hooks or attributes of the project are in effect.
type scratch struct {
	ctx     context.Context // of one look
	program string
	env     []string
	dir     string
}

// scratch makes a repository with the objects of the project and the new ones.
func (r *Repository) scratch(ctx context.Context, objects []Change) (*scratch, error) {
	g := &scratch{ctx: ctx, dir: r.Folder, program: Find()}
	if g.program == "" || strings.ContainsAny(r.Git, "\n\"") {
		return nil, errors.New("there is no git to look at it")
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/none\n", "refs/x/none": "", "objects/info/alternates": filepath.Join(r.Git, "objects") + "\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tcommitGraph = false\n\tmultiPackIndex = false\n\tfsmonitor = false\n",
	} {
		at := filepath.Join(r.Folder, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, c := range objects {
		at := filepath.Join(r.Folder, c.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := os.Link(c.From, at); err != nil {
			return nil, err
		}
	}
	g.env = []string{
		"GIT_DIR=" + r.Folder, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "HOME=" + r.Folder, "PATH=/usr/bin:/bin",
	}
	if shallow := filepath.Join(r.Git, "shallow"); exists(shallow) {
		g.env = append(g.env, "GIT_SHALLOW_FILE="+shallow)
	}
	return g, nil
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// run runs git with the given lines as input and returns its output.
func (g *scratch) run(lines []string, more []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(g.ctx, g.program, args...)
	cmd.Dir, cmd.Env = g.dir, append(more, g.env...)
	if len(lines) > 0 {
		cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git cannot read all of it (%s: %w)", args[0], err)
	}
	return out, nil
}
