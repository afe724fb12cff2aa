package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/catalog"
)

// names looks, after a run, for changes of what names commits: a moved branch, a new commit, the
// message of the next one. A push takes these along, so content that influenced them counts for it.
// It reports what stands for all names in a folder's checkout.
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

// branch is the file that names the commit of the branch which is checked out. In a worktree it
// lies with those of all others, which other sessions may change at the same time.
func (r repository) branch() string {
	text, err := readSmall(filepath.Join(r.dir, "HEAD"))
	name, on := strings.CutPrefix(strings.TrimSpace(text), "ref: ")
	if err != nil || !on || !filepath.IsLocal(name) {
		return filepath.Join(r.dir, "HEAD")
	}
	return filepath.Join(r.common, filepath.FromSlash(name))
}
