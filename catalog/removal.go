package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// removals returns the files that a line deletes and has not created itself. It reports whether
// deleting single files is the line's only change.
func removals(r *shellscan.Report) (files []string, only bool) {
	if !r.Understood {
		return nil, false
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if slices.Contains(p.Effects, floodmark.Change) && (len(p.Words) == 0 || !deletes(p.Words[0])) {
			return nil, false
		}
	}
	var made []string
	for i := range r.Effects {
		e := &r.Effects[i]
		switch e.Kind {
		case shellscan.Write:
			if !e.Pattern && !e.Tree {
				made = append(made, e.Path)
			}
		case shellscan.Delete:
			if !deletes(e.Command) || !isAbsolute(e.Path) || e.Pattern || e.Tree {
				return nil, false
			}
			only = true
			if !slices.Contains(made, e.Path) {
				files = append(files, e.Path)
			}
		default: // changes no file
		}
	}
	return files, only
}

// deletes reports a program that only deletes.
func deletes(name string) bool { return name == "rm" || name == "unlink" }

// wipes returns the folders that a line deletes with all their content, except those that builds
// recreate.
func wipes(r *shellscan.Report) []string {
	var list []string
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind != shellscan.Delete || !e.Tree && !e.Pattern || madeAnew(e.Path) {
			continue
		}
		list = append(list, e.Path)
	}
	return list
}

// madeAnew reports a path that builds and programs recreate: below a temporary folder, or below one
// for build results or downloads.
func madeAnew(path string) bool {
	if within(path, "/tmp") || within(path, "/var/tmp") {
		return true
	}
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(builtFolders(), strings.ToLower(part)) {
			return true
		}
	}
	return false
}

func builtFolders() []string {
	return []string{
		"node_modules", "dist", "build", "target", "out", "bin", "obj", "coverage", "tmp", "temp", "venv", ".venv", "__pycache__", ".cache", ".pytest_cache",
		".mypy_cache", ".ruff_cache", ".tox", ".nox", ".next", ".nuxt", ".turbo", ".parcel-cache", ".gradle", ".eggs", "htmlcov", ".nyc_output", "_build", "site",
	}
}
