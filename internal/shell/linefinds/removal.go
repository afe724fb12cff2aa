package linefinds

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// builtFolders are the names of folders that builds and downloads recreate.
//
//go:embed built.txt
var builtFolders string

// Removals returns the files that a line deletes and has not created itself. It reports whether
// deleting single files is the line's only change.
func Removals(r *shellscan.Report) (files []string, only bool) {
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
			if !deletes(e.Command) || !filenames.Absolute(e.Path) || e.Pattern || e.Tree {
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

// deletes reports whether a program does nothing but delete.
func deletes(name string) bool { return name == "rm" || name == "unlink" }

// folders returns the folders that a line deletes with all their content, except those that builds
// recreate. Folders with an unknown path are left out, because such a line is judged as one that
// runs any code.
func folders(r *shellscan.Report) []string {
	var list []string
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Kind != shellscan.Delete || e.Path == "" || !e.Tree && !e.Pattern || madeAnew(e.Path) {
			continue
		}
		list = append(list, e.Path)
	}
	return list
}

// madeAnew reports whether builds and programs recreate a path: it is below a temporary folder, or
// below a folder for build results or downloads.
func madeAnew(path string) bool {
	if strings.HasPrefix(path+"/", "/tmp/") || strings.HasPrefix(path+"/", "/var/tmp/") {
		return true
	}
	built := strings.Fields(builtFolders)
	for part := range strings.SplitSeq(path, "/") {
		if slices.Contains(built, strings.ToLower(part)) {
			return true
		}
	}
	return false
}
