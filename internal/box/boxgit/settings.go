package boxgit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Limits of settings.
const (
	maxSettings = 1 << 20 // bytes of one file
	maxIncluded = 100     // files
)

// Named lists the files and folders that settings of git name as something to load or run: hooks,
// filters, included settings. There is no list of the settings that name a file, so every word of
// every value may be a path.
type Named struct {
	Files   []string // absolute paths of files that are loaded
	Folders []string // absolute paths of folders from which any file may be loaded
}

// Settings reads the git settings that are in effect for a checkout: the machine's, the owner's and
// the repository's own, with all files they include.
func Settings(checkout, home string) Named {
	s := settings{checkout: checkout, home: home, seen: map[string]bool{}}
	git := filepath.Join(checkout, ".git")
	if text, err := read(git, maxRef); err == nil { // .git may be a file that names the folder
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
			git = s.path(dir, checkout)
		}
	}
	common := git
	if text, err := read(filepath.Join(git, "commondir"), maxRef); err == nil && len(text) > 0 {
		common = s.path(strings.TrimSpace(string(text)), git)
	}
	for _, file := range []string{
		"/etc/gitconfig", filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"),
		filepath.Join(common, "config"), filepath.Join(git, "config.worktree"),
	} {
		s.load(file)
	}
	return s.named
}

type settings struct {
	checkout, home string
	seen           map[string]bool
	named          Named
}

func (s *settings) path(p, base string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(s.home, rest)
	}
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

// load reads one file of settings. A file that load cannot read cannot be read by git either, so it
// is skipped.
func (s *settings) load(file string) {
	if s.seen[file] || len(s.seen) == maxIncluded {
		return
	}
	s.seen[file] = true
	data, err := os.ReadFile(file)
	if err != nil || len(data) > maxSettings {
		return
	}
	section := ""
	data = bytes.ReplaceAll(data, []byte("\\\n"), nil)
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "[") {
			name, rest, _ := strings.Cut(text[1:], "]")
			section, text = strings.ToLower(strings.Fields(name + " ")[0]), strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(text, "=")
		if ok && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, ";") {
			s.value(section, strings.ToLower(strings.TrimSpace(key)), value, filepath.Dir(file))
		}
	}
}

// value adds the files that a setting names. Settings of people and branches name no files, and an
// alias runs only when a person types it.
func (s *settings) value(section, key, value, dir string) {
	switch {
	case section == "user" || section == "branch" || section == "alias" || section == "init" && key == "defaultbranch":
		return
	case section == "core" && key == "hookspath":
		s.named.Folders = append(s.named.Folders, s.path(unquoted(value), s.checkout))
	}
	for _, word := range Words(value) {
		at := s.path(word, s.checkout)
		s.named.Files = append(s.named.Files, at, s.path(word, dir))
		if strings.HasPrefix(section, "include") {
			s.load(s.path(word, dir))
		}
	}
}

// unquoted returns a value without its quotes and without a comment behind it.
func unquoted(value string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		case c == '\\' && i+1 < len(value):
			i++
			b.WriteByte(value[i])
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// Words returns the words of a text that may be paths. If a word begins with a variable, only the
// rest after the first slash is taken.
func Words(text string) (list []string) {
	apart := func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;|&()<>=,!{}[]", r) }
	for _, word := range strings.FieldsFunc(text, apart) {
		if strings.HasPrefix(word, "$") {
			_, word, _ = strings.Cut(word, "/")
		}
		if word != "" {
			list = append(list, word)
		}
		if rest := strings.TrimPrefix(word, "/"); rest != "" && rest != word {
			list = append(list, rest) // the path may follow a variable in braces
		}
	}
	return list
}

// Runs reports whether a command runs a hook; «*» means any hook. known lists the hooks that the
// command is known to run, as «…/.git/hooks/NAME/**», or all of them as «…/.git/hooks/**». Two more
// hooks run whenever git writes a ref or its index.
func Runs(known []string, hook string) bool {
	if hook == "post-index-change" || hook == "reference-transaction" {
		return true
	}
	for _, p := range known {
		if _, name, ok := strings.Cut(p, "/.git/hooks/"); ok && (hook == "*" || name == "**" || name == hook+"/**") {
			return true
		}
	}
	return false
}
