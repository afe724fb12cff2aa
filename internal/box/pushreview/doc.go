// Package pushreview shows what a push would send, so that a person can review it. It reads only
// git's objects, so no attribute, filter, setting, replaced object or reference changes what is
// shown. It uses each object only under the name that its bytes hash to, starts no program, and
// refuses a history that it cannot read in full. A review begins with a count of what it does not
// show.
package pushreview

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kinds of objects.
const (
	Commit = "commit"
	Tree   = "tree"
	Blob   = "blob"
)

// An Object is one of git's objects.
type Object struct {
	Kind string
	Size int64
	// Body is the content; nil for a file of more than [MaxBody] bytes.
	Body []byte
}

// Objects reads objects. It returns only an object whose content hashes to the name that was asked
// for.
type Objects interface {
	Read(id string) (Object, error)
}

// The limits of a review. A push beyond MaxCommits or MaxEntries is not reviewed at all. What is
// beyond another limit is counted and not shown.
const (
	MaxCommits = 500     // that are sent
	MaxEntries = 5000    // files that change in them
	MaxBody    = 1 << 20 // bytes of a file that is compared by lines; commits and trees have no more
	MaxRest    = 1 << 20 // bytes that are checked and not shown
	maxLines   = 1500    // of a review
	maxOfFile  = 250     // lines of one file
	maxText    = 240     // letters of a line
	maxDepth   = 64      // folders in folders
)

// ErrMalformed says that a history is not one that git itself would make. Programs disagree about
// such objects, so what would be sent is unknown.
var ErrMalformed = errors.New("malformed history")

// ErrTooMuch says that there is more than a person would look at.
var ErrTooMuch = errors.New("too much for a review")

// A commit is one commit of the history.
type commit struct {
	id, tree          string
	parents           []string
	author, committer string
	// more are the other lines of the commit's head, unchanged: signatures and the like.
	more    []string
	message string
}

// parseCommit reads a commit. It refuses lines that are not in the order in which git writes them.
func parseCommit(id string, body []byte) (c commit, err error) {
	c.id = id
	head, message, ok := strings.Cut(string(body), "\n\n")
	if !ok {
		head = strings.TrimSuffix(string(body), "\n")
	}
	c.message = message
	stage := 0
	for i, line := range strings.Split(head, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case i == 0 && word == "tree" && IsID(rest):
			c.tree = rest
		case stage == 0 && i > 0 && word == "parent" && IsID(rest):
			c.parents = append(c.parents, rest)
		case stage == 0 && i > 0 && word == "author":
			c.author, stage = rest, 1
		case stage == 1 && word == "committer":
			c.committer, stage = rest, 2
		case stage == 2 && line != "" && !slices.Contains([]string{"tree", "parent", "author", "committer"}, word):
			c.more = append(c.more, line)
		default:
			return commit{}, fmt.Errorf("%w: the head of commit %.12s", ErrMalformed, id)
		}
	}
	if stage != 2 {
		return commit{}, fmt.Errorf("%w: the head of commit %.12s", ErrMalformed, id)
	}
	return c, nil
}

// An entry is what a tree has under one name.
type entry struct{ mode, name, id string }

// The modes that git writes.
const (
	modeFile    = "100644"
	modeProgram = "100755"
	modeLink    = "120000"
	modeFolder  = "40000"
	modeModule  = "160000"
)

// parseTree reads a tree. It refuses a tree that git would not write: one with an unknown mode, or
// with names that are double, out of order or empty, or that lead elsewhere.
func parseTree(id string, body []byte) ([]entry, error) {
	wrong := fmt.Errorf("%w: tree %.12s", ErrMalformed, id)
	size := len(id) / 2
	var list []entry
	seen := map[string]bool{}
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < size || !fitName(name) || seen[name] ||
			!slices.Contains([]string{modeFile, modeProgram, modeLink, modeFolder, modeModule, "100664"}, mode) {
			return nil, wrong
		}
		e := entry{mode: mode, name: name, id: hex.EncodeToString(rest[:size])}
		if len(list) > 0 && cmp.Compare(list[len(list)-1].key(), e.key()) >= 0 {
			return nil, wrong
		}
		seen[name] = true
		list, body = append(list, e), rest[size:]
	}
	return list, nil
}

// key returns the key by which git sorts a tree.
func (e entry) key() string {
	if e.mode == modeFolder {
		return e.name + "/"
	}
	return e.name
}

// fitName reports whether a file of a tree may have this name. A name that a file system takes for
// «.git» would be settings and hooks in the checkouts of others.
func fitName(name string) bool {
	plain := strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff {
			return -1 // HFS+ ignores these characters
		}
		return r
	}, name))
	plain = strings.TrimRight(plain, " .")
	return plain != "" && plain != ".git" && plain != "git~1" && !strings.ContainsAny(name, "/\\\x00") && !strings.HasPrefix(plain, ".git:")
}

// IsID reports whether s can be the name of an object.
func IsID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == "" && strings.Trim(s, "0") != ""
}
