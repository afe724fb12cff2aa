// Package boxspec says what a box shows and keeps of one project, from what the
// monitor knows: the project's folder, the owner's home and the catalog. Nothing of
// it comes from a command line or from the project's own settings.
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
	"github.com/floodmark/floodmark/internal/redact"
	"github.com/floodmark/floodmark/kernel"
)

// maxHidden is how many files of a project are hidden at most. Each is a mount.
const maxHidden = 1000

// ErrUnseen says that a project could not be looked through for its secrets, so
// they would not be hidden.
var ErrUnseen = errors.New("the project is too large to hide its secrets in a box, or a folder of it cannot be read")

// A Disk looks for files that keep secrets; see [kernel.Disk].
type Disk interface {
	Secrets(s kernel.Search) kernel.Hoard
}

// For returns the box for a command that works on a project. The box's own folder is outside of the
// project; see [box.Spec].
func For(c *catalog.Catalog, at catalog.Places, disk Disk, folder string) (*box.Spec, error) {
	hidden, err := secrets(c, at, disk)
	if err != nil {
		return nil, err
	}
	s := Rules(c)
	s.Project, s.Home, s.Folder, s.Hidden = at.Project, at.Home, folder, hidden
	return &s, nil
}

// Rules returns the part that holds for every project.
func Rules(c *catalog.Catalog) box.Spec {
	// A pattern with more stars is left to the search by the monitor.
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

// Keep returns what may be moved into a project: no file that instructs an agent, runs by itself,
// is told to agents later, puts agents on the monitor's path, keeps secrets or leaves them out of
// releases, and no name with a dot but those that no program obeys or that builds make. A file that
// runs when a person types a command is source.
func Keep(c *catalog.Catalog) box.Keep {
	return box.Keep{
		Guarded: anywhere(slices.Concat(lines(loadedList), c.Listed("instructs", "memory", "selfProtected", "secret", "leavesOut"))),
		Dots:    anywhere(slices.Concat(c.Listed("plain"), lines(builtList))),
	}
}

// lines are those of a list without its comments.
func lines(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// anywhere returns the patterns that may match within a project. A box reads brackets as a choice
// of letters, and the catalog as themselves.
func anywhere(patterns []string) (list []string) {
	for _, p := range patterns {
		if strings.HasPrefix(p, "**/") && !strings.HasPrefix(p, "**/.git/") && p != "**/.git" { // a box has rules of its own for git
			list = append(list, strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(p))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// secrets returns the files of a project that keep secrets by their names.
func secrets(c *catalog.Catalog, at catalog.Places, disk Disk) ([]string, error) {
	found := disk.Secrets(kernel.Search{
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
			name = there // a link shows what it leads to
		}
		if rel, err := filepath.Rel(at.Project, name); err == nil && filepath.IsLocal(rel) {
			list = append(list, rel) // elsewhere it is not shown anyway
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
