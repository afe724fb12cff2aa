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
	mu   sync.Mutex                 // guards what is below
	of   map[string]*tenantNotes    // by tenant: nobody hears of another's
	pace map[noteKind]*rate.Limiter // of what is written down
}

type noteKind struct{ tenant, kind string }

// tenantNotes are those of one tenant.
type tenantNotes struct {
	lines []string
	kinds map[string]int // how many of the lines are of a kind
	count int64
	told  []string // the newest of what is no incident
}

// maxNotes bounds what status lists, and maxOfKind what it lists of one kind; all
// are counted. The first of a kind is always listed: whoever can bring about many
// of one must not hide another.
const (
	maxNotes  = 20
	maxOfKind = 10
)

// maxTold bounds what is told beside incidents: the newest are kept.
const maxTold = 5

// What is written down of one kind: many at once, then one a second. Whoever
// knocks all day must not fill the disk.
const (
	incidentsAtOnce = 200
	incidentsPace   = rate.Limit(1)
	maxKinds        = 64
)

// add notes an incident of a tenant and reports whether it is to be written down.
func (n *notes) add(tenant, kind, text string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own(tenant)
	own.count++
	if of := own.kinds[kind]; of < maxOfKind && (len(own.lines) < maxNotes || of == 0 && len(own.kinds) < maxKinds) {
		own.kinds[kind]++
		own.lines = append(own.lines, kind+": "+text)
	}
	if n.pace == nil {
		n.pace = map[noteKind]*rate.Limiter{}
	}
	pace, ok := n.pace[noteKind{tenant, kind}]
	if !ok {
		kinds := 0
		for k := range n.pace {
			if k.tenant == tenant {
				kinds++
			}
		}
		if kinds >= maxKinds {
			return false
		}
		pace = rate.NewLimiter(incidentsPace, incidentsAtOnce)
		n.pace[noteKind{tenant, kind}] = pace
	}
	return pace.AllowN(now, 1)
}

// own are the notes of a tenant. Tenants are those that service.yaml names, so
// they are bounded. The caller holds the lock.
func (n *notes) own(tenant string) *tenantNotes {
	if n.of == nil {
		n.of = map[string]*tenantNotes{}
	}
	if n.of[tenant] == nil {
		n.of[tenant] = &tenantNotes{kinds: map[string]int{}}
	}
	return n.of[tenant]
}

// tell notes what is no incident, for whoever runs the monitor.
func (n *notes) tell(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own("")
	own.told = append(own.told[max(0, len(own.told)+1-maxTold):], text)
}

// list are the notes of a tenant.
func (n *notes) list(tenant string) (lines []string, count int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own(tenant)
	lines = append([]string(nil), own.lines...)
	if more := own.count - int64(len(lines)); more > 0 {
		lines = append(lines, strconv.FormatInt(more, 10)+" more incidents: «floodmark journal show floodmark/incidents» lists what was written down")
	}
	return append(lines, own.told...), own.count
}
