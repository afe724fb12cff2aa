package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// Pushes implements [kernel.Disk]: it stands for every setting of the
// repository but those of single branches, which change with each new one, and
// of those for what sends a branch elsewhere. A setting that cannot be read as
// plain «name = value» makes nothing known.
func (d *Disk) Pushes(path string) floodmark.Digest {
	root, gitDir, ok := locate(path)
	if !ok {
		return floodmark.Digest{}
	}
	r := open(root, gitDir)
	text, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil || setting(text, `remote "origin"`, "url") == "" {
		return floodmark.Digest{}
	}
	kept, ok := steering(text)
	if !ok {
		return floodmark.Digest{}
	}
	if own, err := readSmall(filepath.Join(r.dir, "config.worktree")); err == nil {
		kept = append(kept, own)
	}
	return floodmark.DigestOf("pushes\x00" + strings.Join(kept, "\n"))
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
