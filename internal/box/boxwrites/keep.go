package boxwrites

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/box/boxgit"
)

// A Change is one thing that a command did to the project.
type Change struct {
	Path string `json:"path"` // within the project
	Kind Kind   `json:"kind"`
	// Refused says why the change is not moved in. It is empty if the change is moved in.
	Refused string `json:"refused,omitempty"`
	// SHA256 is the hash of a file, once [Writes.Digest] has read it.
	SHA256 string `json:"sha256,omitempty"`
	// fresh says that a folder's former content is gone.
	fresh bool
}

// A Kind is what a change leaves at its path.
type Kind string

// The kinds of changes.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Gone   Kind = "gone"
	Other  Kind = "other" // never moved in
)

// A Keep says which written files may be moved into the project. The zero value
// keeps no dot file.
type Keep struct {
	// Guarded are patterns of paths that a program runs or obeys without being asked to, such as
	// «**/AGENTS.md» or «.github/**». They are never moved in.
	Guarded []string `json:"guarded,omitempty"`
	// Dots are patterns of the only names with a leading dot that are moved in, such as
	// «**/.gitignore», «**/.changeset/*.md» or «**/node_modules/.bin/*».
	Dots []string `json:"dots,omitempty"`
}

// Refuses returns why a path of the project must not be written; empty if it may be. Upper and
// lower case are taken for the same, since some disks do so.
func (k *Keep) Refuses(p string, folder bool) string {
	written := strings.Split(p, "/")
	p = strings.ToLower(p)
	parts := strings.Split(p, "/")
	if rest, ok := strings.CutPrefix(strings.Join(written, "/"), ".git/"); ok {
		return boxgit.Refuses(rest, folder)
	}
	if !folder && parts[len(parts)-1] == "head" {
		return "git takes a folder with a HEAD for a repository"
	}
	for i, part := range parts {
		switch {
		case part == ".git":
			return "it makes a repository inside the project"
		case strings.HasPrefix(part, ".") && !k.plain(written[:i], written[i:], folder):
			return "it is a dot file that programs may obey"
		}
	}
	for _, g := range k.Guarded {
		if matches(strings.Split(strings.ToLower(g), "/"), parts) {
			return "something runs or obeys it without being asked to"
		}
	}
	return ""
}

// Leads reports whether links to a path are forbidden. They are if the path, or something below it,
// must not be written, because the link would give it another name.
func (k *Keep) Leads(p string) bool {
	if p == ".git" || strings.HasPrefix(strings.ToLower(p), ".git/") || k.Refuses(p, true) != "" {
		return true
	}
	parts := strings.Split(strings.ToLower(p), "/")
	for _, g := range k.Guarded {
		pattern := strings.Split(strings.ToLower(g), "/")
		for n := 1; n < len(pattern); n++ {
			if pattern[n-1] != "**" && matches(pattern[:n], parts) {
				return true
			}
		}
	}
	return false
}

// plain reports whether no program obeys a path. The path is given in two parts: the folders above
// a name with a leading dot, and the names from that one on. For a folder it is enough that an
// allowed path can be inside it.
func (k *Keep) plain(above, parts []string, folder bool) bool {
	for _, d := range k.Dots {
		pattern := strings.Split(strings.TrimPrefix(d, "**/"), "/")
		dot := slices.IndexFunc(pattern, func(p string) bool { return strings.HasPrefix(p, ".") })
		if dot < 0 || dot > len(above) || !slices.Equal(pattern[:dot], above[len(above)-dot:]) {
			continue
		}
		pattern = pattern[dot:]
		if folder && len(parts) < len(pattern) {
			pattern = pattern[:len(parts)]
		}
		if !strings.Contains(d, "[") && matches(pattern, parts) {
			return true
		}
	}
	return false
}

// matches reports whether a path matches a pattern. «**» matches any number of folders, also none.
func matches(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if matches(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); err != nil {
			return true // an invalid pattern refuses everything
		} else if !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
