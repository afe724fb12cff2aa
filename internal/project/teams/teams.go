// Package teams records which repositories the owner has declared to be the team's, and which
// commits are on their default branch. It fetches these commits itself, from the address that the
// owner saw, into a folder of its own. It does not trust the branches of a checkout, because any
// program could have written them.
package teams

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/project/checkout"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// The limits of a store.
const (
	MaxRepositories = 256
	maxEntry        = 64 << 10
	// Pause is the shortest time between two fetches of Refresh for one repository.
	Pause = time.Minute
)

// The errors of a Store.
var (
	ErrAddress = errors.New("nothing can be fetched from this address")
	ErrOther   = errors.New("another repository lies at this address now")
	ErrUnknown = errors.New("this was not said to be a team's repository")
	errFull    = errors.New("there are too many repositories of teams: end one first")
)

// A Repository is a repository that the owner has declared to be the team's.
type Repository struct {
	// Path is the folder of the checkout. Address is where its default branch is fetched from.
	// First is the first commit of that branch.
	Path    string `json:"path"`
	Address string `json:"address"`
	First   string `json:"first"`
	// Since is when the owner declared it. Fetched is when the branch was fetched last, and Tip is
	// its newest commit then.
	Since   time.Time `json:"since"`
	Fetched time.Time `json:"fetched"`
	Tip     string    `json:"tip"`
}

// A Store keeps repositories in a folder that no agent may write to. It is safe for
// concurrent use.
type Store struct {
	dir string
	git git
	now func() time.Time

	mu    sync.Mutex // guards list, tried and commits
	list  map[string]*Repository
	tried map[string]time.Time
	known map[string]*commits

	fetching sync.Mutex // held during a fetch
}

// Open reads a store. An entry that cannot be read is left out, so it is not the team's, and is
// reported in the error. The store can be used even if there is an error.
func Open(dir, home string, now func() time.Time) (*Store, error) {
	s := &Store{dir: dir, git: git{home: home}, now: now, list: map[string]*Repository{}, tried: map[string]time.Time{}, known: map[string]*commits{}}
	names, err := filepath.Glob(filepath.Join(dir, "*", "team.json"))
	if err != nil {
		return s, err
	}
	var wrong []error
	for _, name := range names[:min(len(names), MaxRepositories)] {
		r, err := readEntry(name)
		if err == nil && filepath.Base(filepath.Dir(name)) != folderOf(r.Path) {
			err = fmt.Errorf("%s: it belongs to another folder", name)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		s.list[r.Path] = r
	}
	return s, errors.Join(wrong...)
}

func readEntry(name string) (*Repository, error) {
	text, err := wholefile.ReadOwn(name, maxEntry)
	if err != nil {
		return nil, err
	}
	var r Repository
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !filepath.IsAbs(r.Path) || !plain(r.Address) || !checkout.IsID(r.First) || !checkout.IsID(r.Tip) {
		return nil, fmt.Errorf("%s: a field is missing", name)
	}
	return &r, nil
}

// folderOf returns the name of the folder for a repository's commits.
func folderOf(path string) string { return floodmark.DigestOf("team\x00" + path).String()[:32] }

// List returns all repositories in the order of their folders.
func (s *Store) List() []Repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Repository, 0, len(s.list))
	for _, r := range s.list {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Repository) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// Add records that the owner declares the checkout at a path, which came from an address, to be the
// team's, and fetches its default branch.
func (s *Store) Add(ctx context.Context, path, address string) (Repository, error) {
	if !plain(address) {
		return Repository{}, fmt.Errorf("%w: %q", ErrAddress, address)
	}
	s.mu.Lock()
	_, again := s.list[path]
	full := !again && len(s.list) >= MaxRepositories
	s.mu.Unlock()
	if full {
		return Repository{}, errFull
	}
	r := Repository{Path: path, Address: address, Since: s.now().UTC()}
	return s.fetch(ctx, r)
}

// End removes a repository and its commits.
func (s *Store) End(path string) error {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[path] == nil {
		return fmt.Errorf("%w: %s", ErrUnknown, path)
	}
	dir := filepath.Join(s.dir, folderOf(path))
	if err := os.Remove(filepath.Join(dir, "team.json")); err != nil {
		return err
	}
	delete(s.list, path)
	delete(s.known, path)
	return os.RemoveAll(dir)
}

// Of returns the address that the team's repository at a path is fetched from, and a function that
// reports whether a commit is on its default branch. For any other path the address is empty.
func (s *Store) Of(path string) (address string, has func(commit string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.list[path]
	if r == nil {
		return "", nil
	}
	c := s.known[path]
	if c == nil {
		var err error
		if c, err = readCommits(filepath.Join(s.dir, folderOf(path), "commits"), r.Tip); err != nil {
			return r.Address, func(string) bool { return false }
		}
		s.known[path] = c
	}
	return r.Address, c.has
}

// Any reports whether there are repositories of teams.
func (s *Store) Any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.list) > 0
}

// Refresh fetches a repository again, unless that was tried less than Pause ago.
func (s *Store) Refresh(ctx context.Context, path string) error {
	s.mu.Lock()
	r := s.list[path]
	tried := s.tried[path]
	if r != nil && s.now().Sub(tried) >= Pause {
		s.tried[path] = s.now()
	}
	s.mu.Unlock()
	switch {
	case r == nil:
		return fmt.Errorf("%w: %s", ErrUnknown, path)
	case s.now().Sub(tried) < Pause:
		return nil
	}
	_, err := s.fetch(ctx, *r)
	return err
}

// fetch fetches the default branch, and writes its commits and then the entry of the repository.
func (s *Store) fetch(ctx context.Context, r Repository) (Repository, error) {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	dir := filepath.Join(s.dir, folderOf(r.Path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	tip, list, first, err := s.git.fetch(ctx, filepath.Join(dir, "git"), r.Address, r.First)
	if err != nil {
		return r, err
	}
	r.Tip, r.First, r.Fetched = tip, first, s.now().UTC()
	c := newCommits(list)
	if err := c.write(filepath.Join(dir, "commits")); err != nil {
		return r, err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return r, err
	}
	if err := wholefile.Replace(filepath.Join(dir, "team.json"), append(text, '\n'), 0o600); err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list[r.Path], s.known[r.Path] = &r, c
	return r, nil
}

// ways returns the protocols by which git may reach a repository.
func ways() []string { return []string{"https", "http", "ssh", "git", "file"} }

// plain reports whether an address has one of the allowed protocols and no password, because it is
// stored and shown.
func plain(address string) bool {
	if address == "" || len(address) > 1024 || address[0] == '-' || strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return false
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		host, path, short := strings.Cut(address, ":") // git@host:path
		return filepath.IsAbs(address) || short && path != "" && host != "" && !strings.Contains(host, "/") && !strings.HasPrefix(path, ":")
	}
	who, _, named := strings.Cut(strings.SplitN(rest, "/", 2)[0], "@")
	return slices.Contains(ways(), scheme) && (!named || !strings.Contains(who, ":")) && !strings.HasPrefix(rest, "-")
}
