package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// Clean returns the path a value stands for, absolute as far as that is
// possible without a disk and without detours. Relative ones are taken from
// base, or from the project.
func (at Places) Clean(value, base string) string {
	if base == "" {
		base = at.Project
	}
	return clean(value, base, at.Home)
}

// FoldPath writes a clean path so that two names of one file are the same on
// the most forgiving file system.
func FoldPath(path string) string { return foldPath(path) }

// Where says where a clean path lies (InProject, Elsewhere or Foreign), and
// whether a file there instructs an agent or runs by itself.
func (c *Catalog) Where(path string, at Places) (kind PathKind, instructs bool) {
	var buf [24]string
	s := c.paths.look(path, "", at, buf[:])
	return s.kind, s.guard&isInstructs != 0
}

// Guards reports whether a file at a clean path instructs an agent or runs by
// itself, and whether it keeps agents on the monitor's path; of a tree, whether
// something in it does.
func (c *Catalog) Guards(path string, tree bool, at Places) (instructs, protected bool) {
	var buf [24]string
	s := c.paths.look(path, "", at, buf[:])
	found := s.guard
	if tree {
		found |= c.paths.holdsGuarded(&s)
	}
	return found&isInstructs != 0, found&isProtected != 0
}

// Commands reports whether an argument of the tool is a command line.
func (u Use) Commands() bool { return u.Profile != nil && u.Profile.command }

// SystemFolders are where the operating system keeps its programs.
func SystemFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/System", "/Library/Developer", "/opt/homebrew", "/nix/store"}
}

// OfSystem reports whether a clean path belongs to the operating system: what
// lies there was put there by whoever installed the machine.
func OfSystem(path string) bool {
	return slices.ContainsFunc(SystemFolders(), func(root string) bool { return within(path, root) })
}

// Remembers reports whether a call writes or reads what several agents share:
// the catalog says so by the trust of what it gives back.
func (u Use) Remembers() bool {
	return u.Profile != nil && !u.ByPath && u.Returns.Trust == floodmark.Shared && !u.Profile.command
}

// PatchPaths returns the paths a patch names, as they are written there.
func PatchPaths(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line) // as those who apply patches do
		for _, head := range [...]string{
			"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ",
			"rename from ", "rename to ", "copy from ", "copy to ",
		} {
			name, ok := strings.CutPrefix(line, head)
			if !ok || name == "/dev/null" {
				continue
			}
			if head == "+++ " || head == "--- " {
				name, _, _ = strings.Cut(name, "\t")
			}
			if plain, err := strconv.Unquote(name); err == nil { // "b/\303\244.txt"
				name = plain
			}
			if head == "+++ " || head == "--- " {
				if len(name) > 2 && (name[:2] == "a/" || name[:2] == "b/") {
					name = name[2:]
				}
			}
			names = append(names, name)
		}
	}
	return names
}
