package boxwrites

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links one path may lead through; the kernel stops there too.
const maxLinks = 40

// refusesLink returns why a link must not be moved in; empty if it may be. It follows the link step
// by step, through both the written files and the project, because a target inside of the project
// may lead out by way of another link.
func (w *Writes) refusesLink(at, to string) string {
	const out = "it is a link that leads out of the project"
	if below(to, "/usr/bin") || below(to, "/usr/local/bin") {
		if to == filepath.Clean(to) {
			return "" // a program of the system, as Python's environments have it
		}
		return out
	}
	there, ok := w.follow(at, to, maxLinks)
	switch {
	case w.Keep.Leads(at):
		return "it is a link in the place of what something runs or obeys without being asked to"
	case !ok || len(there) == 0: // a link to the project itself reaches git's folder
		return out
	case w.Keep.Leads(strings.Join(there, "/")):
		return "it is a link to what something runs or obeys without being asked to"
	}
	return ""
}

// follow returns where a link leads within the project. «..» may only be at the beginning of the
// target: behind a name it would mean another folder once that name is a link.
func (w *Writes) follow(at, to string, left int) (there []string, ok bool) {
	if left == 0 || to == "" {
		return nil, false
	}
	if filepath.IsAbs(to) {
		if !below(to, w.Project) {
			return nil, false
		}
		to = strings.TrimPrefix(to, w.Project)
	} else if dir := filepath.Dir(at); dir != "." {
		there = strings.Split(dir, "/")
	}
	named := filepath.IsAbs(to)
	for part := range strings.SplitSeq(to, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && (named || len(there) == 0):
			return nil, false
		case part == "..":
			there = there[:len(there)-1]
		default:
			named = true
			there = append(slices.Clip(there), part)
			if there, ok = w.through(there, left); !ok {
				return nil, false
			}
		}
	}
	return there, true
}

// through follows the links at a path in both layers, because it depends on the refusals which
// layer's link will be there.
func (w *Writes) through(p []string, left int) (there []string, ok bool) {
	at := strings.Join(p, "/")
	there = p
	for _, layer := range []string{filepath.Join(w.Project, at), w.written(at)} {
		to, err := os.Readlink(layer)
		if err != nil {
			continue // no link
		}
		if there, ok = w.follow(at, to, left-1); !ok {
			return nil, false
		}
	}
	return there, true
}

// ofRepository reports whether a path is in a folder with a HEAD, which git may take for a
// repository. No box makes such a folder: see [Keep.Refuses].
func (w *Writes) ofRepository(p string, known map[string]bool) bool {
	for dir := filepath.Dir(p); ; dir = filepath.Dir(dir) {
		has, looked := known[dir]
		if !looked {
			info, err := os.Lstat(filepath.Join(w.Project, dir, "HEAD"))
			has = err == nil && !info.IsDir()
			known[dir] = has
		}
		if has || dir == "." {
			return has
		}
	}
}

// below reports whether a path is the folder itself or is in it.
func below(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
