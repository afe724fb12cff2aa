package daemon

import (
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// notes are what a person should look at, kept for status. The journal keeps
// them for good.
type notes struct {
	mu    sync.Mutex // guards what is below
	lines []string
	count int64
	told  []string                 // the newest of what is no incident
	pace  map[string]*rate.Limiter // by kind, of what is written down
}

// maxNotes bounds what status lists; all are counted.
const maxNotes = 20

// maxTold bounds what is told beside incidents: the newest are kept.
const maxTold = 5

// What is written down of one kind: many at once, then one a second. Whoever
// knocks all day must not fill the disk.
const (
	incidentsAtOnce = 200
	incidentsPace   = rate.Limit(1)
	maxKinds        = 64
)

// add notes an incident and reports whether it is to be written down.
func (n *notes) add(kind, text string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if len(n.lines) < maxNotes {
		n.lines = append(n.lines, kind+": "+text)
	}
	if n.pace == nil {
		n.pace = map[string]*rate.Limiter{}
	}
	pace, ok := n.pace[kind]
	if !ok {
		if len(n.pace) >= maxKinds {
			return false
		}
		pace = rate.NewLimiter(incidentsPace, incidentsAtOnce)
		n.pace[kind] = pace
	}
	return pace.AllowN(now, 1)
}

// tell notes what is no incident.
func (n *notes) tell(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told[max(0, len(n.told)+1-maxTold):], text)
}

func (n *notes) list() (lines []string, count int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines = append([]string(nil), n.lines...)
	if more := n.count - int64(len(lines)); more > 0 {
		lines = append(lines, strconv.FormatInt(more, 10)+" more incidents: «floodmark show floodmark/incidents» lists what was written down")
	}
	return append(lines, n.told...), n.count
}
