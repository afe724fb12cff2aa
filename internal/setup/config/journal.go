package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
)

// A Shard names a database and which shards of a fleet's journal are in it: those with the numbers
// From to To. A session's name determines its shard. There are [shards] in all.
type Shard struct {
	Store string `yaml:"store"`
	From  int    `yaml:"from"`
	To    int    `yaml:"to"`
}

const (
	shards       = 4096
	maxDatabases = 64
)

// InDatabase reports whether the journal is kept in databases, not in a file.
func (j Journal) InDatabase() bool { return j.Store != "" || len(j.Shards) > 0 }

// Databases returns the databases of the journal, ordered by shard; none if the journal is a file
// on this machine. A single database holds all shards.
func (j Journal) Databases() []Shard {
	if j.Store != "" {
		return []Shard{{Store: j.Store, To: shards - 1}}
	}
	return slices.SortedFunc(slices.Values(j.Shards), func(a, b Shard) int { return a.From - b.From })
}

func (s Service) checkKeys() error {
	if s.Keys != "" && !filepath.IsAbs(s.Keys) {
		return fmt.Errorf("keys: %q is not a full path", s.Keys)
	}
	return nil
}

func (j Journal) check() error {
	if j.Store != "" && !isDatabase(j.Store) {
		return errors.New("journal.store: want postgres://user@host/database, or nothing for the file on this machine")
	}
	if len(j.Shards) == 0 {
		return nil
	}
	if j.Store != "" {
		return errors.New("journal: store is one database for all, shards are several: write one of the two")
	}
	if len(j.Shards) > maxDatabases {
		return fmt.Errorf("journal.shards: %d databases, at most %d", len(j.Shards), maxDatabases)
	}
	next, seen := 0, map[string]bool{}
	for i, s := range j.Databases() {
		switch {
		case !isDatabase(s.Store):
			return fmt.Errorf("journal.shards: the database for shards %d to %d: want store: postgres://user@host/database", s.From, s.To)
		case seen[s.Store]:
			return fmt.Errorf("journal.shards: the database for shards %d to %d stands there twice: give each one range", s.From, s.To)
		case s.From != next || s.To < s.From:
			return fmt.Errorf("journal.shards: %d to %d, want ranges that hold each of 0 to %d once (number %d must begin at %d)", s.From, s.To, shards-1, i+1, next)
		}
		next, seen[s.Store] = s.To+1, true
	}
	if next != shards {
		return fmt.Errorf("journal.shards: the ranges end at %d, want %d", next-1, shards-1)
	}
	return nil
}

func isDatabase(store string) bool {
	u, err := url.Parse(store)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}
