package boxgit

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/wholefile"
)

// byBox precedes the text of a box's lines in HEAD's log.
const byBox = "in a box: "

// grows says why HEAD's log is not the old one with lines added, if so: it tells whether a
// repository was cloned, and what was committed in it. The command can have written anything, so
// its lines are marked as a box's and are not taken for what the owner typed.
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

// marked returns log lines with the mark on each. A clone stays unmarked: it makes a checkout less
// trusted.
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
