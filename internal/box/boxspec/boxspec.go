// Package boxspec makes the rules of a box for a project: which files the box shows, and which
// changes are kept. They depend only on the project's folder, the owner's home and the catalog, and
// never on a command line or the project's own settings.
package boxspec

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// maxHidden bounds the hidden files of a project, because each needs a mount.
const maxHidden = 1000

// ErrUnseen means that a project could not be searched completely for secrets, so a box might not
// hide all of them.
var ErrUnseen = errors.New("the project is too large to hide its secrets in a box, or a folder of it cannot be read")

// A Disk searches for files with secrets; see [artifact.Disk].
type Disk interface {
	Secrets(s artifact.Search) artifact.Hoard
}

// For returns the spec of a box for a command in a project. folder is the box's own folder, outside
// of the project; see [box.Spec].
func For(c *catalog.Catalog, at catalog.Places, disk Disk, folder string) (*box.Spec, error) {
	hidden, err := secrets(c, at, disk)
	if err != nil {
		return nil, err
	}
	s := Rules(c)
	s.Project, s.Home, s.Folder, s.Hidden = at.Project, at.Home, folder, hidden
	return &s, nil
}

// Rules returns the part of the spec that is the same for every project.
func Rules(c *catalog.Catalog) box.Spec {
	// Patterns with further stars are left out. The monitor finds their files by its own search.
	secret := slices.DeleteFunc(anywhere(c.Listed("secret")), func(p string) bool {
		name := strings.TrimPrefix(p, "**/")
		return name == "" || strings.Contains(name, "**")
	})
	return box.Spec{Secret: secret, Keep: Keep(c)}
}

var (
	//go:embed data/loaded.txt
	loadedList string
	//go:embed data/built.txt
	builtList string
)

// Keep returns the rules for what may be moved into a project. These files may not:
//
//   - files that instruct agents, or that agents remember;
//   - files that run by themselves;
//   - the files of the monitor and of agents' hooks;
//   - files with secrets, and files that keep secrets out of releases;
//   - files whose names begin with a dot, except names that no program obeys or that builds make.
//
// A file that only runs when a person types a command counts as source, and may be moved.
func Keep(c *catalog.Catalog) box.Keep {
	return box.Keep{
		Guarded: anywhere(slices.Concat(lines(loadedList), c.Listed("instructs", "memory", "selfProtected", "secret", "leavesOut"))),
		Dots:    anywhere(slices.Concat(c.Listed("plain"), lines(builtList))),
	}
}

// lines returns the lines of a list without comments and empty lines.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// anywhere returns the patterns that can match in any folder of a project. It escapes brackets,
// because a box reads them as a choice of letters, and the catalog as themselves.
func anywhere(patterns []string) (list []string) {
	for _, p := range patterns {
		if strings.HasPrefix(p, "**/") && !strings.HasPrefix(p, "**/.git/") && p != "**/.git" { // a box has rules of its own for git
			list = append(list, strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(p))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// secrets returns the files of a project that, by their names, contain secrets.
func secrets(c *catalog.Catalog, at catalog.Places, disk Disk) ([]string, error) {
	found := disk.Secrets(artifact.Search{
		Folder: at.Project,
		Keeps: func(p string) redact.Keeper {
			if k := c.Keeps(p, at); k == redact.KeepsSecrets {
				return k
			}
			return redact.KeepsNone
		},
		Under: "box " + c.Hash().String() + " " + at.Home,
	})
	if !found.Whole {
		return nil, ErrUnseen
	}
	if len(found.Files) > maxHidden {
		return nil, fmt.Errorf("the project has %d files that keep secrets; a box hides at most %d", len(found.Files), maxHidden)
	}
	var list []string
	for _, f := range found.Files {
		name := filepath.FromSlash(f.Path)
		if there, err := filepath.EvalSymlinks(name); err == nil {
			name = there // hide the file that a link leads to
		}
		if rel, err := filepath.Rel(at.Project, name); err == nil && filepath.IsLocal(rel) {
			list = append(list, rel) // files outside the project are not shown anyway
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
