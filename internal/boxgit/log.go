package boxgit

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/wholefile"
)

// byBox stands in front of what a box notes of where HEAD was.
const byBox = "in a box: "

// grows says why the notes of where HEAD was are not those that were there, and more, if
// so: they tell whether a repository was cloned from somewhere, and what was committed in
// it. The command wrote them and can have written anything, so what it added is marked as a
// box's: nobody takes that for what the owner typed.
func (r *Repository) grows(c *Change) error {
	was, err := read(filepath.Join(r.Git, "logs", "HEAD"), maxList)
	if c.Is == AFolder {
		return nil
	}
	if c.Is == AFile && err == nil {
		var is []byte
		if is, err = read(c.From, maxList); err == nil && bytes.HasPrefix(is, was) && (len(was) == 0 || was[len(was)-1] == '\n') {
			return wholefile.Replace(c.From, append(was, marked(is[len(was):])...), 0o644)
		}
	}
	return errors.Join(errors.New("the notes of where HEAD was were rewritten"), err)
}

// marked are notes with the mark on each. That something was cloned stays as it is: it makes
// a checkout worth less.
func marked(notes []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(notes)) {
		who, what, ok := strings.Cut(line, "\t")
		if ok && !strings.HasPrefix(what, byBox) && !strings.HasPrefix(what, "clone:") {
			line = who + "\t" + byBox + what
		}
		b.WriteString(line)
	}
	return b.Bytes()
}
