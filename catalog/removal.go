package catalog

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// removals returns the files that a line deletes and has not made itself. It
// reports whether deleting files one by one is all the change the line makes.
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

// deletes reports a program that does nothing but delete.
func deletes(name string) bool { return name == "rm" || name == "unlink" }
