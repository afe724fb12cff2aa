// Package monitor is the reference monitor around the pure kernel: one writer per session, no
// answer before its facts are durable, and the zero reply, which restricts, after any error. It
// makes no decisions itself, opens no file and no connection, and gives a question's code only to
// the approvers.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/ask/gates"
	"github.com/floodmark/floodmark/internal/ask/pausebook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/verify"
)

// A Config is all that a monitor is built from. Fields not described as optional are required.
type Config struct {
	// Journal keeps the facts. The caller closes it after the monitor.
	Journal journal.Journal
	// Rules returns the current rules. They may change between events.
	Rules func() kernel.Rules
	// RulesOf is optional and called instead of Rules if rules differ by session. It returns the
	// current rules of session s. Root is the session that s descends from, or s itself, so that a
	// sub-agent is judged by the same rules as the session that began it.
	RulesOf func(s journal.Session, root floodmark.SessionID) kernel.Rules
	// Key returns a tenant's key. It is called for every event.
	Key func(tenant string) (provenance.Key, error)
	// Ring is optional and called instead of Key: it returns all keys of a tenant that may have
	// changed its key.
	Ring func(tenant string) (provenance.Ring, error)
	// Approvers carry questions to people; with none, questions are not announced.
	Approvers []approval.Approver
	// Auditor is optional: without one a person is asked instead.
	Auditor audit.Auditor
	// Verifiers are the gates that calls may have to pass. A gate that the rules name and that is
	// missing here refuses.
	Verifiers []verify.Verifier
	// NewRequest makes the id of a request to verifiers; required with Verifiers.
	NewRequest func() string
	// Erased is optional: it verifies a tombstone before its mark is used. After an error the
	// session is refused.
	Erased func(journal.Tombstone) error
	// Machine names the machine whose files the agents work on. It is needed only if sessions of
	// several machines share a journal.
	Machine string
	// Disk is optional: the disk of that machine.
	Disk Disk
	// Questions is optional: how many questions of a tenant may be open here; zero means any
	// number. A call that would ask one more is refused.
	Questions func(tenant string) int
	// MayAnswer is optional. It reports whether a member of the groups may answer a question of a
	// session's agent about the tools. No tools means that the question may concern any tool.
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool
	// Now is the clock. NewCode and NewTicket draw from a cryptographic source.
	Now       func() time.Time
	NewCode   func() string
	NewTicket func() floodmark.TicketID
	// Observe is optional: it is called after an event is durable. It must not block and must not
	// call the monitor.
	Observe func(Observation)
	// SpillDir is optional: a folder for unlinked files, which take the part of a long session's
	// index that exceeds Limits.IndexPlaces. Without it the whole index stays in memory.
	SpillDir string
	// Limits may be left zero.
	Limits Limits
}

// Limits bound what a monitor takes on. A zero field has the default.
type Limits struct {
	CacheBytes   int64         // states of sessions in memory, approximately: 1 GiB
	ContentBytes int64         // indexes of contents in memory, approximately: 4 MiB
	IndexPlaces  int           // tokens of a session's index in one piece of memory, before it goes to SpillDir: 262,144
	Waiting      int           // events that wait for their turn in one session: 64
	InFlight     int           // events being worked on in all sessions, and as many that wait for an answer: 4096
	Deadline     time.Duration // for judging and recording one event: 10 s
	AuditTime    time.Duration // for one opinion: 30 s
	AskTime      time.Duration // for telling one approver: 30 s
	Poll         time.Duration // how often a waiter looks whether another node wrote: 1 s
	SnapshotFrom int           // facts after which a session is written down as a whole: 64
	Tries        int           // how often an event is judged if others write first: 16
}

// The bounds that are not worth a setting.
const (
	maxPending       = 4096     // questions remembered for [Monitor.Pending]
	maxIncidentBytes = 4096     // of an incident's text: it is a sentence
	maxSnapshotBytes = 16 << 20 // a batch takes 64 MiB in all
	largeSession     = 1 << 14  // sources from which on no other snapshot is tried after one that was too large
	maxAudits        = 3        // opinions asked on one call while its session keeps changing
	maxVerifies      = 3        // rounds of verifiers for one call while its session keeps changing
	postingsAtOnce   = 512      // contents asked of the journal in one call
)

func (l Limits) filled() Limits {
	fill(&l.CacheBytes, 1<<30)
	fill(&l.ContentBytes, 4<<20)
	fill(&l.IndexPlaces, 1<<18)
	fill(&l.Waiting, 64)
	fill(&l.InFlight, 4096)
	fill(&l.Deadline, 10*time.Second)
	fill(&l.AuditTime, 30*time.Second)
	fill(&l.AskTime, 30*time.Second)
	fill(&l.Poll, time.Second)
	fill(&l.SnapshotFrom, 64)
	fill(&l.Tries, 16)
	return l
}

func fill[T int | int64 | time.Duration](field *T, usual T) {
	if *field == 0 {
		*field = usual
	}
}

func (l Limits) check() error {
	for name, n := range map[string]int64{
		"CacheBytes": l.CacheBytes, "ContentBytes": l.ContentBytes, "Waiting": int64(l.Waiting), "IndexPlaces": int64(l.IndexPlaces), "InFlight": int64(l.InFlight),
		"Deadline": int64(l.Deadline), "AuditTime": int64(l.AuditTime), "AskTime": int64(l.AskTime), "Poll": int64(l.Poll),
		"SnapshotFrom": int64(l.SnapshotFrom), "Tries": int64(l.Tries),
	} {
		if n < 0 {
			return fmt.Errorf("monitor: limit %s is below zero", name)
		}
	}
	return nil
}

// A Monitor serves many sessions. It is safe for concurrent use, also beside other monitors over
// the same journal.
type Monitor struct {
	cfg      Config
	seats    *seats
	contents *contents
	indexers sync.Pool // of *provenance.Indexer, with the memory they need
	asked    *questions
	news     *news
	watches  *watches
	gates    *gates.Gates
	pauses   *pausebook.Book
	held     *held
	slots    chan struct{} // one for every event being worked on
	waits    chan struct{} // bounds the callers that wait for an answer

	life context.Context // ends with Close
	end  context.CancelFunc

	mu     sync.Mutex // guards closed: work.Add is only called under mu while it is false
	closed bool
	work   sync.WaitGroup
}

// New returns a monitor, or an error that names everything its configuration lacks.
func New(c Config) (*Monitor, error) {
	var missing []string
	for _, f := range []struct {
		name string
		here bool
	}{
		{"Journal", c.Journal != nil},
		{"Rules", c.Rules != nil},
		{"Key", c.Key != nil || c.Ring != nil},
		{"Now", c.Now != nil},
		{"NewCode", c.NewCode != nil},
		{"NewTicket", c.NewTicket != nil},
		{"NewRequest", c.NewRequest != nil || len(c.Verifiers) == 0},
	} {
		if !f.here {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return nil, errors.New("monitor: the configuration lacks " + strings.Join(missing, ", "))
	}
	if err := c.Limits.check(); err != nil {
		return nil, err
	}
	c.Limits = c.Limits.filled()
	m := &Monitor{
		cfg:      c,
		seats:    newSeats(c.Limits.CacheBytes, c.Limits.Waiting),
		contents: newContents(c.Limits.ContentBytes),
		asked:    newQuestions(),
		news:     newNews(),
		watches:  newWatches(),
		pauses:   pausebook.New(),
		held:     newHeld(),
		slots:    make(chan struct{}, c.Limits.InFlight),
		waits:    make(chan struct{}, c.Limits.InFlight),
	}
	m.life, m.end = context.WithCancel(context.Background())
	m.gates = gates.New(gates.Options{Verifiers: c.Verifiers, Now: c.Now, Life: m.life, Join: func() (func(), error) { return m.work.Done, m.join() }})
	return m, nil
}

// Close refuses new events, wakes all callers that wait for an answer, and returns when all running
// work has ended. The journal stays open.
func (m *Monitor) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end()
	m.work.Wait()
	return nil
}

// begin takes a slot for one event. After a nil error the caller must call done.
func (m *Monitor) begin() error { return m.take(m.slots) }

func (m *Monitor) done() { m.give(m.slots) }

// take takes one of a bounded number of slots, or returns ErrBusy.
func (m *Monitor) take(places chan struct{}) error {
	if err := m.join(); err != nil {
		return err
	}
	select {
	case places <- struct{}{}:
		return nil
	default:
		m.work.Done()
		return fmt.Errorf("%w: %d are at it already", ErrBusy, cap(places))
	}
}

func (m *Monitor) give(places chan struct{}) {
	<-places
	m.work.Done()
}

// join registers work that Close waits for.
func (m *Monitor) join() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.work.Add(1)
	return nil
}
