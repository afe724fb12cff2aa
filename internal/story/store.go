package story

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxgit"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/shell/looks"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// A store holds what the sessions of a story left behind, and the disk that they share.
type store struct {
	words     map[floodmark.ArtifactRef]map[floodmark.SessionID]artifact.Kept
	checkouts map[string]artifact.Checkout
	altered   *artifact.Altered // what the next result finds changed
	files     map[string]string
	gone      []string // what was deleted by hand
}

func newStore() *store {
	return &store{words: map[floodmark.ArtifactRef]map[floodmark.SessionID]artifact.Kept{}, checkouts: map[string]artifact.Checkout{}}
}

// Find implements [artifact.Store].
func (s *store) Find(refs []floodmark.ArtifactRef) []artifact.Kept {
	var found []artifact.Kept
	for _, ref := range refs {
		for _, id := range slices.Sorted(maps.Keys(s.words[ref])) {
			found = append(found, s.words[ref][id])
		}
	}
	return found
}

// take stores the artifacts that come with the newest fact of a session, and removes those that are
// gone.
func (s *store) take(session floodmark.SessionID, seq int, out kernel.Output) {
	for _, g := range out.Gone {
		if old, ok := s.words[g.Ref][g.Version.Session]; ok && old.Version.Seq <= g.Version.Seq {
			delete(s.words[g.Ref], g.Version.Session)
		}
	}
	for _, a := range out.Artifacts {
		if s.words[a.Ref] == nil {
			s.words[a.Ref] = map[floodmark.SessionID]artifact.Kept{}
		}
		v := floodmark.ArtifactVersion{Session: session, Seq: uint64(seq)}
		s.words[a.Ref][session] = artifact.Kept{Version: v, Artifact: a}
	}
}

// Resolve implements [artifact.Disk]: a story has no links.
func (s *store) Resolve(path string) string { return path }

// Links implements [artifact.Disk]: stories have none.
func (s *store) Links(string, bool) map[string]string { return nil }

// Repository implements [artifact.Disk]. The folder of git is in the checkout.
func (s *store) Repository(path string) (dir, common string) {
	c, ok := s.Around(path)
	if !ok {
		return "", ""
	}
	return c.Root + "/.git", c.Root + "/.git"
}

// Nested implements [artifact.Disk]. It reports that its list is not complete.
func (s *store) Nested(string) (folders []string, all bool) { return nil, false }

// Exactly implements [artifact.Disk], for the files whose content the story says.
func (s *store) Exactly(path string) floodmark.Digest {
	for name, text := range s.files {
		if catalog.FoldPath(name) == path {
			return floodmark.DigestOf(text)
		}
	}
	return floodmark.Digest{}
}

// Head implements [artifact.Disk]: a story has no commits.
func (s *store) Head(string) string { return "" }

// Starts implements [artifact.Disk]. Hooks are files of the story; hooks of husky are in the tree.
func (s *store) Starts(path string, hooks []string) (list []string) {
	c, _ := s.Around(path)
	for _, file := range slices.Sorted(maps.Keys(s.files)) {
		switch rest, in := strings.CutPrefix(file, c.Root+"/"); {
		case !in || c.Root == "":
		case strings.HasPrefix(rest, ".git/hooks/") && boxgit.Runs(hooks, strings.TrimPrefix(rest, ".git/hooks/")):
			list = append(list, file)
		case strings.HasPrefix(rest, ".husky/") && boxgit.Runs(hooks, "*"):
			list = append(list, c.Root+"/.husky/*")
		case strings.HasPrefix(rest, ".husky/") && boxgit.Runs(hooks, strings.TrimPrefix(rest, ".husky/")):
			list = append(list, file)
		}
	}
	return list
}

// Content implements [artifact.Disk]: a story has no files.
func (s *store) Content(string) floodmark.Digest { return floodmark.Digest{} }

// Missing implements [artifact.Disk], for the files that the story says were deleted.
func (s *store) Missing(path string) bool {
	return slices.ContainsFunc(s.gone, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// Pushes implements [artifact.Disk]. A push goes where the checkout came from.
func (s *store) Pushes(path, _ string) floodmark.Digest {
	c, ok := s.Around(path)
	if !ok || c.Remote == "" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(c.Remote)
}

// Databases implements [artifact.Disk], by the file .pgpass of the story.
func (s *store) Databases(home string) []string { return looks.Databases(s.files[home+"/.pgpass"]) }

// Composes implements [artifact.Disk], by the files of the story.
func (s *store) Composes(folder string) bool {
	return looks.Composed(func(name string) (text string, there, ok bool) {
		text, there = s.files[folder+"/"+name]
		return text, there, true
	})
}

// Revisions implements [artifact.Disk]. A story describes a branch as a checkout below git's own
// folder.
func (s *store) Revisions(path string, words []string) (list []artifact.Checkout) {
	for _, w := range words {
		if c, ok := s.checkouts[path+"/.git/"+w]; ok && !c.Own {
			list = append(list, c)
		}
	}
	return list
}

// Around implements [artifact.Disk].
func (s *store) Around(path string) (artifact.Checkout, bool) {
	best, found := artifact.Checkout{}, false
	for root, c := range s.checkouts {
		if (path == root || strings.HasPrefix(path, root+"/")) && len(root) > len(best.Root) {
			best, found = c, true
		}
	}
	return best, found
}

// Secrets implements [artifact.Disk]. If a story says what is in at least one file, its disk has no
// other files.
func (s *store) Secrets(search artifact.Search) (h artifact.Hoard) {
	h.Whole = len(s.files) > 0
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		k := artifact.Keeper{Path: path, Prints: search.Prints(path, s.files[path])}
		switch holds := len(k.Prints) > 0 || search.Keeps(path) == redact.KeepsSecrets; {
		case holds && catalog.Reaches(search.Folder, path):
			h.Files = append(h.Files, k)
		case holds && slices.ContainsFunc(search.Beside, func(p string) bool { return catalog.Reaches(p, path) }):
			h.Beside = append(h.Beside, k)
		}
	}
	return h
}

// disk plays a verb that changes the disk of a story.
func (s *store) disk(verb, rest string) error {
	words := strings.Fields(rest)
	switch {
	case len(words) == 0 || !strings.HasPrefix(words[0], "/"):
		return misused(verb, errUsage)
	case verb == "file":
		path, text, _ := strings.Cut(rest, " ")
		if s.files == nil {
			s.files = map[string]string{}
		}
		s.files[path] = lines(text)
	case verb == "gone":
		s.gone = append(s.gone, catalog.FoldPath(words[0]))
	case verb == "changed":
		whole := words[len(words)-1] != "…"
		if !whole {
			words = words[:len(words)-1]
		}
		s.altered = &artifact.Altered{Paths: words, Whole: whole}
	case len(words) == 2 && words[1] == "own":
		s.checkouts[words[0]] = artifact.Checkout{Root: words[0], Own: true}
	case len(words) == 4 && words[3] == "team":
		s.checkouts[words[0]] = artifact.Checkout{Root: words[0], Remote: words[1], Commit: words[2], Team: true}
	case len(words) == 3:
		s.checkouts[words[0]] = artifact.Checkout{Root: words[0], Remote: words[1], Commit: words[2]}
	default:
		return misused(verb, errors.New("a checkout is your own, or has a remote and a commit"))
	}
	return nil
}
