package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxSettings bounds the files of git's settings that are read for one push.
const maxSettings = 16

// Pushes implements [kernel.Disk]: it stands for every setting of the
// repository but those of single branches, which change with each new one, and
// of those for what sends a branch elsewhere; and for the settings of the owner
// and of the machine, with all files that any of them includes. Where a setting
// cannot be read as plain «name = value», or makes a push take along more than
// the branch that is checked out, nothing is known.
func (d *Disk) Pushes(path, branch string) floodmark.Digest {
	root, gitDir, ok := locate(path)
	if !ok {
		return floodmark.Digest{}
	}
	r := open(root, gitDir)
	text, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil || setting(text, `remote "origin"`, "url") == "" || branch != "" && !r.on(branch) {
		return floodmark.Digest{}
	}
	kept, ok := steering(text)
	if !ok || setting(text, `remote "origin"`, "push")+setting(text, `remote "origin"`, "mirror") != "" {
		return floodmark.Digest{}
	}
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

// atHome is a file of the owner's; without a home there is none.
func (d *Disk) atHome(name string) string {
	if d.opts.Home == "" {
		return ""
	}
	return filepath.Join(d.opts.Home, filepath.FromSlash(name))
}

// on reports whether a branch is the one that is checked out.
func (r repository) on(branch string) bool {
	text, err := readSmall(filepath.Join(r.dir, "HEAD"))
	return err == nil && strings.TrimSpace(text) == "ref: refs/heads/"+branch
}

// more reports a word for which a push takes along other branches than the one
// that is checked out, or gives it another name.
func more(setting string) bool {
	return !slices.Contains([]string{"", "simple", "current", "nothing"}, strings.ToLower(setting))
}

// included are the files that settings include, whatever they make it depend on.
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

// steering are the lines of git's settings that may say where a push goes.
func steering(text string) (kept []string, ok bool) {
	branch := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if strings.IndexByte(line, ']') != len(line)-1 {
				return nil, false // a setting behind the head of its section
			}
			branch = strings.HasPrefix(strings.ToLower(line), `[branch "`)
			if !branch {
				kept = append(kept, line)
			}
			continue
		}
		if strings.HasSuffix(line, `\`) {
			return nil, false
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if branch && (slices.Contains([]string{"merge", "rebase", "description", ""}, key) || key == "remote" && value == "origin") {
			continue
		}
		kept = append(kept, line)
	}
	return kept, true
}
