package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/catalog"
)

// names reports whether a run has changed git's references in a folder's checkout: a moved branch,
// a new commit, the message of the next commit. A push sends them, so content that influenced them
// also influences the push. A change is reported as one path, which stands for all references of
// the checkout (see [catalog.NamesOf]).
func (l *hunt) names(folder string) {
	root, dir, ok := locate(folder)
	if !ok {
		return
	}
	r := open(root, dir)
	look := []string{r.branch()}
	for _, name := range []string{
		"HEAD", "packed-refs", "refs/heads", "refs/tags", "refs/stash", "reftable", "rebase-merge", "rebase-apply", "sequencer",
		"MERGE_HEAD", "MERGE_MSG", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD",
	} {
		look = append(look, filepath.Join(r.dir, name))
	}
	for _, at := range look {
		if _, err := os.Lstat(at); os.IsNotExist(err) {
			continue
		}
		if l.touched(at) {
			l.found.Paths = append(l.found.Paths, filepath.ToSlash(folder)+catalog.NamesOf)
			return
		}
	}
}

// branch returns the path of the file with the commit of the checked-out branch. In a worktree, the
// file is in the folder of all branches, so only this file is checked: other sessions may change
// other branches at the same time.
func (r repository) branch() string {
	text, err := readSmall(filepath.Join(r.dir, "HEAD"))
	name, on := strings.CutPrefix(strings.TrimSpace(text), "ref: ")
	if err != nil || !on || !filepath.IsLocal(name) {
		return filepath.Join(r.dir, "HEAD")
	}
	return filepath.Join(r.common, filepath.FromSlash(name))
}
