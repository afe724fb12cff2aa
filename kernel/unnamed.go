package kernel

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// Some names are the owner's to say, once anybody else was heard: that of a
// package whose code will run, that of a folder that will be gone.

// strange reports a command that runs a package which the owner did not name.
func (st *step) strange(use *catalog.Use) bool {
	return slices.ContainsFunc(use.Packages, func(name string) bool { return !st.said(name, "package") })
}

// wipes reports a command that deletes a folder which the owner did not name,
// by its path or its name, and which this session did not make.
func (st *step) wipes(use *catalog.Use) bool {
	return slices.ContainsFunc(use.Wipes, func(p string) bool {
		rest, inside := strings.CutPrefix(p, strings.TrimSuffix(st.s.Project, "/")+"/")
		if st.said(p, "path") || st.said(rest, "path") || st.said(path.Base(p), "path") {
			return false
		}
		return !inside || !st.made(fileRef(p), treeRef(p))
	})
}

// said reports whether the owner named something: as a whole value in its role
// or, if it is no word of a language, as a word. A package may be called «test».
func (st *step) said(name, role string) bool {
	return st.s.stated.Has(name, hook.String, role) || strings.ContainsAny(name, "-_./@0123456789") && st.s.stated.HasWord(name)
}
