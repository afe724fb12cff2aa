package postgresjournal

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/floodmark/floodmark/journal"
)

// A month, such as 202611, names the table with the facts of the sessions that began in it. 0 is the
// table from before there were months.
type month int

// unborn is the month of a session without entries, or one unknown to this node.
const unborn month = -1

// from returns the table to read; into returns the table to write. A query of the table facts would
// read the tables of all months, if it did not say «ONLY facts».
func (m month) from() string {
	if m <= 0 {
		return "ONLY facts"
	}
	return m.into()
}

func (m month) into() string {
	if m <= 0 {
		return "facts"
	}
	return "facts_" + strconv.Itoa(int(m))
}

// texts are the statements for one month's table.
type texts struct {
	insertOne, insert, insertAt string // continue sessions
	bear, bearAt                string // continue sessions and begin some
	snapshot, content           string
	leave, takeBack             string
	read                        string
	heads, recent               string
}

func textsOf(m month) *texts {
	number, born := strconv.Itoa(int(max(m, 0))), ""
	if m > 0 {
		born = strings.ReplaceAll(bornSQL, "{month}", number)
	}
	with := strings.NewReplacer("{from}", m.from(), "{into}", m.into(), "{month}", number, "{born}", born).Replace
	return &texts{
		insertOne: with(insertOneSQL), insert: with(insertSQL), insertAt: with(insertAtSQL),
		bear: with(bearSQL), bearAt: with(bearAtSQL),
		snapshot: with(snapshotSQL), content: with(contentSQL), leave: with(leaveSQL), takeBack: with(takeBackSQL),
		read: with(readSQL), heads: with(headsSQL), recent: with(recentSQL),
	}
}

// maxHomes bounds each half of the cache of sessions' months: about 20 MB together.
const maxHomes = 1 << 16

// Homes are the known months of sessions. Every statement verifies the month, because an erased
// session may continue in another month, at another node.
type homes struct {
	mu         sync.Mutex // guards all below
	young, old map[journal.Session]month
	texts      map[month]*texts
	current    month // where new sessions begin: 0 if this month has no table
}

func newHomes() *homes {
	return &homes{young: map[journal.Session]month{}, texts: map[month]*texts{}}
}

// of returns the month of a session, or unborn.
func (h *homes) of(s journal.Session) month {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m, ok := h.young[s]; ok {
		return m
	}
	m, ok := h.old[s]
	if !ok {
		return unborn
	}
	h.put(s, m)
	return m
}

// set records the month of a session; unborn forgets it.
func (h *homes) set(s journal.Session, m month) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m == unborn {
		delete(h.young, s)
		delete(h.old, s)
		return
	}
	h.put(s, m)
}

func (h *homes) put(s journal.Session, m month) {
	if len(h.young) >= maxHomes {
		h.old, h.young = h.young, make(map[journal.Session]month, maxHomes)
	}
	h.young[s] = m
}

// text returns the statements for a month.
func (h *homes) text(m month) *texts {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.texts[m]
	if t == nil {
		t = textsOf(m)
		h.texts[m] = t
	}
	return t
}

// here returns the month in which new sessions begin.
func (h *homes) here() month {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// learn records which months exist.
func (h *homes) learn(current month, all []month) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = 0
	if slices.Contains(all, current) {
		h.current = current
	}
}
