package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxSettings bounds the files of git's settings that are read for one push.
const maxSettings = 16

// Pushes implements [artifact.Disk]: a digest of all settings that decide where a push goes. It
// covers the settings of the repository, the owner and the machine, with all files that they
// include. Lines that only say which branch of origin a branch follows are left out, because they
// change with each new branch. The digest is zero if a setting cannot be read as plain "name =
// value", or makes a push send more than the checked-out branch.
func (d *Disk) Pushes(path, branch string) floodmark.Digest {
	root, gitDir, ok := locate(path)
	if !ok {
		return floodmark.Digest{}
	}
	r := open(root, gitDir)
	text, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil || branch != "" && !r.on(branch) {
		return floodmark.Digest{}
	}
	return d.pushes(r, text)
}

// A Push says where a push from a checkout goes, and what it sends.
type Push struct {
	// Settings is the digest of [Disk.Pushes].
	Settings floodmark.Digest
	// Address is the destination. It is empty if there are several, or if the repository's settings
	// rename addresses. Branch is the checked-out branch, and Commit its commit.
	Address, Branch, Commit string
	// Team and Own are the fields of the same name of the checkout, see [artifact.Checkout].
	Team, Own bool
	// Objects is git's object folder. Hook is the program that git runs before a push, or empty.
	Objects, Hook string
}

// Push reads the checkout around a path. It reads the settings once, so that all fields are from
// the same settings.
func (d *Disk) Push(path string) (Push, bool) {
	root, gitDir, ok := locate(path)
	if !ok {
		return Push{}, false
	}
	r := open(root, gitDir)
	text, err := readSmall(filepath.Join(r.common, "config"))
	head, herr := readSmall(filepath.Join(r.dir, "HEAD"))
	branch, on := strings.CutPrefix(strings.TrimSpace(head), "ref: refs/heads/")
	commit, known := r.head()
	if err != nil || herr != nil || !on || !known || r.borrowed {
		return Push{}, false
	}
	p := Push{Settings: d.pushes(r, text), Branch: branch, Commit: commit, Objects: filepath.Join(r.common, "objects"), Hook: r.hook(text)}
	if _, err := os.Lstat(filepath.Join(r.dir, "config.worktree")); err != nil {
		p.Address = address(text)
	}
	c, _ := d.Around(path)
	p.Team, p.Own = c.Team, c.Own
	return p, !p.Settings.IsZero()
}

// address returns the address that a repository's settings send a push to. It returns "" unless
// there is exactly one, only of characters that every parser reads alike, and no setting that could
// rename it.
func address(text string) string {
	urls, pushes := settings(text, `remote "origin"`, "url"), settings(text, `remote "origin"`, "pushurl")
	for line := range strings.Lines(strings.ToLower(text)) {
		head, is := strings.CutPrefix(strings.TrimSpace(line), "[")
		if is && (strings.ContainsRune(head, '\\') || slices.ContainsFunc([]string{"url", "include", "remote."}, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(head), s) })) {
			return ""
		}
	}
	list := pushes
	if len(pushes) == 0 {
		list = urls
	}
	if len(list) != 1 || list[0] == "" || list[0][0] == '-' || strings.Trim(list[0], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@:/._~%+=,[]-") != "" {
		return ""
	}
	return list[0]
}

// hook returns the program that git runs before a push, or "" if there is none.
func (r repository) hook(text string) string {
	folder := setting(text, "core", "hooksPath")
	switch {
	case folder == "":
		folder = filepath.Join(r.common, "hooks")
	case !filepath.IsAbs(folder):
		folder = filepath.Join(r.root, folder)
	}
	at := filepath.Join(folder, "pre-push")
	if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	return at
}

// settings returns all values of one of git's settings.
func settings(text, section, name string) (list []string) {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			in = sameSection(strings.TrimSpace(head), section)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if in && strings.EqualFold(strings.TrimSpace(key), name) {
			list = append(list, strings.TrimSpace(value))
		}
	}
	return list
}

// sameSection compares section heads as git does: the name without case, the quoted part exactly.
func sameSection(a, b string) bool {
	name, quoted, _ := strings.Cut(a, `"`)
	other, wanted, _ := strings.Cut(b, `"`)
	return strings.EqualFold(name, other) && quoted == wanted
}

// pushes returns the digest of [Disk.Pushes] for a repository whose settings are text.
func (d *Disk) pushes(r repository, text string) floodmark.Digest {
	kept, ok := steering(text, func(remote string) bool { return remote == "origin" })
	if !ok || setting(text, `remote "origin"`, "url") == "" || setting(text, `remote "origin"`, "push")+setting(text, `remote "origin"`, "mirror") != "" {
		return floodmark.Digest{}
	}
	// The same settings in another git folder must have another digest.
	kept = append(kept, r.dir, r.common)
	files := []string{filepath.Join(r.common, "config")}
	for _, f := range []string{filepath.Join(r.dir, "config.worktree"), "/etc/gitconfig", d.atHome(".gitconfig"), d.atHome(".config/git/config")} {
		if f != "" {
			files = append(files, f)
		}
	}
	for i := 0; i < len(files); i++ {
		text, err := readSmall(files[i])
		if err == nil && i > 0 {
			kept = append(kept, files[i], text)
		}
		further, ok := d.included(text, filepath.Dir(files[i]))
		if !ok || more(setting(text, "push", "default")) || len(files)+len(further) > maxSettings {
			return floodmark.Digest{}
		}
		files = append(files, further...)
	}
	return floodmark.DigestOf("pushes\x00" + strings.Join(kept, "\n"))
}

// Steers implements [monitor.Disk].
func (d *Disk) Steers(folder string) (file string, says floodmark.Digest) {
	root, gitDir, ok := locate(folder)
	if !ok {
		return "", floodmark.Digest{}
	}
	file = filepath.Join(open(root, gitDir).common, "config")
	info, err := os.Lstat(file) // a file with a second hard link could be changed under the other name
	if err != nil || !info.Mode().IsRegular() || names(info) != 1 {
		return "", floodmark.Digest{}
	}
	text, err := readSmall(file)
	if err != nil {
		return "", floodmark.Digest{}
	}
	kept, ok := steering(text, func(remote string) bool {
		return remote != "" && len(settings(text, `remote "`+remote+`"`, "url")) > 0
	})
	if !ok {
		return "", floodmark.Digest{}
	}
	return filepath.ToSlash(file), floodmark.DigestOf("steers\x00" + file + "\n" + strings.Join(kept, "\n"))
}

// atHome returns the path of a file in the owner's home, or "" if the home is unknown.
func (d *Disk) atHome(name string) string {
	if d.opts.Home == "" {
		return ""
	}
	return filepath.Join(d.opts.Home, filepath.FromSlash(name))
}

// on reports whether a branch is checked out.
func (r repository) on(branch string) bool {
	text, err := readSmall(filepath.Join(r.dir, "HEAD"))
	return err == nil && strings.TrimSpace(text) == "ref: refs/heads/"+branch
}

// more reports whether a value of push.default makes a push send other branches than the
// checked-out one, or rename it.
func more(setting string) bool {
	return !slices.Contains([]string{"", "simple", "current", "nothing"}, strings.ToLower(setting))
}

// included returns the files that settings include, under any condition. It returns false if a path
// cannot be read plainly.
func (d *Disk) included(text, folder string) (files []string, ok bool) {
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			low := strings.ToLower(line)
			in = strings.HasPrefix(low, "[include]") || strings.HasPrefix(low, "[includeif ")
			if in && !strings.HasSuffix(line, "]") {
				return nil, false
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if !in || !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if value == "" || strings.ContainsAny(value, "\\\"#;") {
			return nil, false
		}
		rest, home := strings.CutPrefix(value, "~/")
		switch {
		case home:
			value = d.atHome(rest)
		case !filepath.IsAbs(value):
			value = filepath.Join(folder, filepath.FromSlash(value))
		}
		if value != "" {
			files = append(files, value)
		}
	}
	return files, true
}

// steering returns the lines of git's settings that may run something or decide where a push goes:
// all except those that only say which branch of a known remote a branch follows. The head of a
// branch's section is returned only if a line of the section is. It returns false if the text
// cannot be read plainly.
func steering(text string, known func(remote string) bool) (kept []string, ok bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return nil, false // control characters; for example, git ends a name at a NUL
	}
	branch, head := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if strings.IndexByte(line, ']') != len(line)-1 {
				return nil, false // a setting on the same line as the head of its section
			}
			head = line
			if branch = strings.HasPrefix(strings.ToLower(line), `[branch "`); !branch {
				kept, head = append(kept, line), ""
			}
			continue
		}
		if strings.HasSuffix(line, `\`) {
			return nil, false
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if branch && follows(key, value, known) {
			continue
		}
		if head != "" {
			kept, head = append(kept, head), ""
		}
		kept = append(kept, line)
	}
	return kept, true
}

// follows reports whether a setting of a branch only says which branch of a known remote it
// follows.
func follows(key, value string, known func(remote string) bool) bool {
	switch key {
	case "remote":
		return known(value)
	case "merge":
		name, ok := strings.CutPrefix(value, "refs/heads/")
		return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == ""
	case "rebase":
		return slices.Contains([]string{"true", "false", "merges"}, value)
	}
	return key == "" || key == "description"
}
