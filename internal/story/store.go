package story

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
)

// A store is what the sessions of a story left behind, and the disk they share.
type store struct {
	words     map[floodmark.ArtifactRef]map[floodmark.SessionID]kernel.Kept
	checkouts map[string]kernel.Checkout
	altered   *kernel.Altered // what the next result finds on the disk
}

func newStore() *store {
	return &store{words: map[floodmark.ArtifactRef]map[floodmark.SessionID]kernel.Kept{}, checkouts: map[string]kernel.Checkout{}}
}

// Find implements [kernel.Artifacts].
func (s *store) Find(refs []floodmark.ArtifactRef) []kernel.Kept {
	var found []kernel.Kept
	for _, ref := range refs {
		for _, id := range slices.Sorted(maps.Keys(s.words[ref])) {
			found = append(found, s.words[ref][id])
		}
	}
	return found
}

// take keeps the words that go with the newest fact of a session.
func (s *store) take(session floodmark.SessionID, seq int, out kernel.Output) {
	for _, g := range out.Gone {
		if old, ok := s.words[g.Ref][g.Version.Session]; ok && old.Version.Seq <= g.Version.Seq {
			delete(s.words[g.Ref], g.Version.Session)
		}
	}
	for _, a := range out.Artifacts {
		if s.words[a.Ref] == nil {
			s.words[a.Ref] = map[floodmark.SessionID]kernel.Kept{}
		}
		v := floodmark.ArtifactVersion{Session: session, Seq: uint64(seq)}
		s.words[a.Ref][session] = kernel.Kept{Version: v, Artifact: a}
	}
}

// Resolve implements [kernel.Disk]: a story knows no links.
func (s *store) Resolve(path string) string { return path }

// Pushes implements [kernel.Disk]: where a checkout came from.
func (s *store) Pushes(path, _ string) floodmark.Digest {
	c, ok := s.Around(path)
	if !ok || c.Remote == "" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(c.Remote)
}

// Around implements [kernel.Disk].
func (s *store) Around(path string) (kernel.Checkout, bool) {
	best, found := kernel.Checkout{}, false
	for root, c := range s.checkouts {
		if (path == root || strings.HasPrefix(path, root+"/")) && len(root) > len(best.Root) {
			best, found = c, true
		}
	}
	return best, found
}

// disk plays what happens on the disk of a story.
func (s *store) disk(verb, rest string) error {
	words := strings.Fields(rest)
	switch {
	case len(words) == 0 || !strings.HasPrefix(words[0], "/"):
		return misused(verb, errUsage)
	case verb == "changed":
		whole := words[len(words)-1] != "…"
		if !whole {
			words = words[:len(words)-1]
		}
		s.altered = &kernel.Altered{Paths: words, Whole: whole}
	case len(words) == 2 && words[1] == "own":
		s.checkouts[words[0]] = kernel.Checkout{Root: words[0], Own: true}
	case len(words) == 3:
		s.checkouts[words[0]] = kernel.Checkout{Root: words[0], Remote: words[1], Commit: words[2]}
	default:
		return misused(verb, errors.New("a checkout is your own, or has a remote and a commit"))
	}
	return nil
}
