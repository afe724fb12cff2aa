package artifact

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
func (b *Book) hoard(folder string, secrets func() *secret.Session) Hoard {
	if b.Disk == nil {
		return Hoard{}
	}
	if h, ok := b.hoards[folder]; ok {
		return h
	}
	of, at := secrets(), b.At
	p := of.Printer()
	s := Search{Folder: folder, Keeps: func(name string) redact.Keeper { return b.Catalog.Keeps(name, at) }}
	s.Prints = func(name, text string) []floodmark.SecretSpan {
		return of.Rules.InFile(&p, path.Base(name), text, s.Keeps(name))
	}
	s.Under = b.Catalog.Hash().String() + p.Span(redact.Span{}, "the key of a hoard").Print + at.Home
	if folder == b.At.Project && at.Home != "" {
		for _, name := range b.Catalog.HomeKeeps() {
			s.Beside = append(s.Beside, path.Join(at.Home, name))
		}
	}
	if b.hoards == nil {
		b.hoards = map[string]Hoard{}
	}
	b.hoards[folder] = b.Disk.Secrets(s)
	return b.hoards[folder]
}

// LookInto lowers the secrecy of a call's result by what is kept in the files that the call shows,
// and returns the secrets that may be in the result.
func (b *Book) LookInto(use catalog.Use, secrets func() *secret.Session) (catalog.Use, []floodmark.SecretSpan) {
	var all []floodmark.SecretSpan
	for _, p := range use.Contents {
		most, found := b.openness(p, secrets)
		if all = append(all, found...); len(all) > secret.MaxFound {
			most, all = floodmark.Secret, nil
		}
		use.Returns.Secrecy = min(use.Returns.Secrecy, most)
	}
	return use, all
}

// openness returns how open the content at a path can be at most, and which secrets may be in it.
// If not all of the folder was looked at, a path that may hold secrets is private.
func (b *Book) openness(p string, secrets func() *secret.Session) (floodmark.Secrecy, []floodmark.SecretSpan) {
	folder, _, pattern := strings.Cut(p, "*")
	if pattern {
		folder = path.Dir(folder)
	}
	if b.At.Project != "" && catalog.Reaches(b.At.Project, folder) {
		folder = b.At.Project
	}
	h := b.hoard(folder, secrets)
	most := floodmark.Public
	may := pattern && b.Catalog.MayReach(p, b.At) || b.Catalog.Keeps(p, b.At) != redact.KeepsNone
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

// Hoarded returns the prints of the secrets of the project and of the owner's home.
func (b *Book) Hoarded(secrets func() *secret.Session) (all []floodmark.SecretSpan) {
	if b.Disk == nil || b.At.Project == "" {
		return nil
	}
	h := b.hoard(b.At.Project, secrets)
	for _, k := range slices.Concat(h.Files, h.Beside) {
		all = append(all, k.Prints...)
	}
	return all
}
