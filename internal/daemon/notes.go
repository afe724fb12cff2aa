package daemon

import "sync"

// notes are what a person should look at, kept for status. The journal keeps
// them for good.
type notes struct {
	mu    sync.Mutex // guards what is below
	lines []string
	count int64
}

// maxNotes bounds what status lists; all are counted.
const maxNotes = 20

func (n *notes) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if len(n.lines) < maxNotes {
		n.lines = append(n.lines, kind+": "+text)
	}
}

func (n *notes) list() (lines []string, count int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.lines...), n.count
}
