package kernel

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/secret"
	"github.com/floodmark/floodmark/internal/secret/redact"
)

// hoard looks for secrets below a folder, once in an event. If that is the project's folder, it
// also looks where secrets are kept in the owner's home.
func (st *step) hoard(folder string) Hoard {
	if st.in.Disk == nil {
		return Hoard{}
	}
	if h, ok := st.hoards[folder]; ok {
		return h
	}
	p, at := st.secrets().Printer(), st.places()
	s := Search{Folder: folder, Keeps: func(name string) redact.Keeper { return st.r.Catalog.Keeps(name, at) }}
	s.Prints = func(name, text string) []floodmark.SecretSpan {
		return st.r.secrets.InFile(&p, path.Base(name), text, s.Keeps(name))
	}
	s.Under = st.r.Catalog.Hash().String() + p.Span(redact.Span{}, "the key of a hoard").Print + at.Home
	if folder == st.s.Project && at.Home != "" {
		for _, name := range st.r.Catalog.HomeKeeps() {
			s.Beside = append(s.Beside, path.Join(at.Home, name))
		}
	}
	if st.hoards == nil {
		st.hoards = map[string]Hoard{}
	}
	st.hoards[folder] = st.in.Disk.Secrets(s)
	return st.hoards[folder]
}

// lookInto lowers the secrecy of a call's result by what is kept in the files that the call shows,
// and returns the secrets that may be in the result.
func (st *step) lookInto(use catalog.Use) (catalog.Use, []floodmark.SecretSpan) {
	var all []floodmark.SecretSpan
	for _, p := range use.Contents {
		most, found := st.openness(p)
		if all = append(all, found...); len(all) > secret.MaxFound {
			most, all = floodmark.Secret, nil
		}
		use.Returns.Secrecy = min(use.Returns.Secrecy, most)
	}
	return use, all
}

// openness returns how open the content at a path can be at most, and which secrets may be in it.
// If not all of the folder was looked at, a path that may hold secrets is private.
func (st *step) openness(p string) (floodmark.Secrecy, []floodmark.SecretSpan) {
	folder, _, pattern := strings.Cut(p, "*")
	if pattern {
		folder = path.Dir(folder)
	}
	if st.s.Project != "" && catalog.Reaches(st.s.Project, folder) {
		folder = st.s.Project
	}
	h := st.hoard(folder)
	most := floodmark.Public
	may := pattern && st.r.Catalog.MayReach(p, st.places()) || st.r.Catalog.Keeps(p, st.places()) != redact.KeepsNone
	if !h.Whole && may {
		most = floodmark.Private
	}
	var found []floodmark.SecretSpan
	for _, k := range h.Files {
		switch {
		case !catalog.Reaches(p, k.Path):
		case len(k.Prints) == 0:
			most = floodmark.Secret
		default:
			most, found = min(most, floodmark.Private), append(found, k.Prints...)
		}
	}
	return most, found
}

// hoarded returns the prints of the secrets of the project and of the owner's home.
func (st *step) hoarded() (all []floodmark.SecretSpan) {
	if st.in.Disk == nil || st.s.Project == "" {
		return nil
	}
	h := st.hoard(st.s.Project)
	for _, k := range slices.Concat(h.Files, h.Beside) {
		all = append(all, k.Prints...)
	}
	return all
}
