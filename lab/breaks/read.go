package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const breaksFile = ".ci/breaks"

// A broken is one entry of .ci/breaks: a change that a suite has to notice.
type broken struct {
	Name, Suite string
	Who         string         // who notices: gate or nightly
	About       string         // what is broken
	Shows       *regexp.Regexp // matches the line by which the suite shows it
	Edits       []edit
}

// An edit replaces lines of a file. If it has no old lines, it creates the file.
type edit struct {
	file     string
	old, new []string
}

// readBreaks reads entries of lines «key: value», each followed by its edits: «file: NAME»,
// then lines to replace with a minus before them, then their replacement with a plus.
func readBreaks(text string) ([]broken, error) {
	var all []broken
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		err := errors.New("an entry begins with its name")
		if name, ok := strings.CutPrefix(line, "name: "); ok {
			all, err = append(all, broken{Name: name}), nil
		} else if len(all) > 0 {
			err = all[len(all)-1].read(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", breaksFile, i+1, err)
		}
	}
	seen := map[string]bool{}
	for _, b := range all {
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", breaksFile, b.Name, err)
		}
		if seen[b.Name] {
			return nil, fmt.Errorf("%s: %s is there twice", breaksFile, b.Name)
		}
		seen[b.Name] = true
	}
	return all, nil
}

func (b *broken) read(line string) (err error) {
	if line[0] == '-' || line[0] == '+' {
		if len(b.Edits) == 0 {
			return errors.New("no file is named before this line")
		}
		e := &b.Edits[len(b.Edits)-1]
		if line[0] == '+' {
			e.new = append(e.new, line[1:])
			return nil
		}
		if len(e.new) > 0 {
			return errors.New("a line to replace after its replacement; name the file again")
		}
		e.old = append(e.old, line[1:])
		return nil
	}
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "suite":
		b.Suite = value
	case "who":
		b.Who = value
	case "about":
		b.About = value
	case "shows":
		b.Shows, err = regexp.Compile(value)
	case "file":
		b.Edits = append(b.Edits, edit{file: value})
	default:
		err = fmt.Errorf("want name, suite, who, about, shows, file, - or +: %q", line)
	}
	return err
}

// check returns an error if a part of the entry is missing or an edit changes nothing.
func (b broken) check() error {
	switch {
	case b.Suite == "" || b.About == "" || b.Shows == nil || len(b.Edits) == 0:
		return errors.New("want suite, who, about, shows and a file")
	case b.Who != "gate" && b.Who != "nightly":
		return fmt.Errorf("who is gate or nightly, not %q", b.Who)
	}
	for _, e := range b.Edits {
		if slices.Equal(e.old, e.new) {
			return fmt.Errorf("nothing changes in %s", e.file)
		}
	}
	return nil
}

// apply changes the files of a clone. The old lines must be there exactly once.
func (b broken) apply(root string) error {
	for _, e := range b.Edits {
		file := filepath.Join(root, filepath.FromSlash(e.file))
		if len(e.old) == 0 {
			if _, err := os.Stat(file); err == nil {
				return fmt.Errorf("%s exists: name the lines to replace", e.file)
			}
			if err := os.WriteFile(file, []byte(lines(e.new)), 0o644); err != nil {
				return err
			}
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := "\n" + string(data)
		if n := strings.Count(text, "\n"+lines(e.old)); n != 1 {
			return fmt.Errorf("%s has the lines to replace %d times, want once: %q", e.file, n, e.old[0])
		}
		text = strings.Replace(text, "\n"+lines(e.old), "\n"+lines(e.new), 1)
		if err := os.WriteFile(file, []byte(text[1:]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func lines(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return strings.Join(of, "\n") + "\n"
}
