package postgres

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Migrations only go forward. A migration that was released never changes; the
// next step is the next file.
//
//go:embed migrations/*.sql
var migrations embed.FS

// A step is one migration. Lines at the beginning of its file have a meaning:
//
//	-- needs: 3
//
// A program that does not know step 3 must not touch tables with this step. If a step needs no more
// than its predecessor, a rolling upgrade is possible: old and new programs run at once. Without the
// line a step needs itself.
//
//	-- one by one
//
// Its statements, separated by empty lines, run outside a transaction, as CREATE INDEX CONCURRENTLY
// must. Each has to be repeatable after an interruption.
type step struct {
	version  int
	needs    int
	name     string
	text     string
	oneByOne bool
}

func steps() ([]step, error) { return stepsIn(migrations) }

func stepsIn(folder fs.FS) ([]step, error) {
	files, err := fs.Glob(folder, "migrations/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	all := make([]step, len(files))
	for i, f := range files {
		text, err := fs.ReadFile(folder, f)
		if err != nil {
			return nil, err
		}
		if all[i], err = parseStep(i+1, strings.TrimSuffix(path.Base(f), ".sql"), string(text)); err != nil {
			return nil, fmt.Errorf("migration %s: %w", path.Base(f), err)
		}
	}
	return all, nil
}

func parseStep(version int, name, text string) (step, error) {
	s := step{version: version, needs: version, name: name, text: text}
	number, _, _ := strings.Cut(name, "_")
	if v, err := strconv.Atoi(number); err != nil || v != version {
		return s, fmt.Errorf("want number %d", version)
	}
	for line := range strings.Lines(text) {
		line, isComment := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if !isComment {
			break
		}
		if line == "one by one" {
			s.oneByOne = true
		}
		if needs, ok := strings.CutPrefix(line, "needs: "); ok {
			n, err := strconv.Atoi(needs)
			if err != nil || n < 1 || n > version {
				return s, fmt.Errorf("it cannot need step %q", needs)
			}
			s.needs = n
		}
	}
	return s, nil
}

// statements are the parts of a step that run separately.
func (s step) statements() []string {
	if !s.oneByOne {
		return []string{s.text}
	}
	var parts []string
	for part := range strings.SplitSeq(s.text, "\n\n") {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
