package boxgit

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// byBox is put before the text of each line that a box adds to HEAD's log.
const byBox = "in a box: "

// grows returns an error unless HEAD's log is the old log with lines added. The log tells whether a
// repository was cloned, and what was committed in it. A command may have written any lines, so
// grows marks the new ones as a box's, so that they are not taken for what the owner typed.
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

// marked returns log lines with byBox in each. Lines about a clone stay unmarked, because a clone
// makes a checkout less trusted.
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
