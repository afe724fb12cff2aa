// Package machines keeps the laptops that joined a fleet: their identity, their last report, and a
// copy of their facts. No decision uses that copy. The package defines the contract of its stores,
// and opens no connection itself.
package machines

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/journal"
)

// An ID names a machine. It is unique among all tenants.
type ID string

// A State says whether a machine is admitted. The zero State is not.
type State string

// The states of a machine. It ends once, and for good.
const (
	Joined  State = "joined"
	Left    State = "left"    // it said so itself
	Revoked State = "revoked" // an admin said so
)

// A Machine is one as it was enrolled. None of that changes.
type Machine struct {
	Tenant string
	ID     ID
	// Name is what people call it; By is who enrolled it.
	Name, By string
	At       time.Time
	// Token is the SHA-256 of what it proves itself by.
	Token floodmark.Digest
	// JournalKey is the key that its tombstones are signed by.
	JournalKey string
}

// A Status is all that is known of a machine.
type Status struct {
	Machine
	State   State
	EndedBy string // who ended it; empty while it is joined
	// Seen is when it last reported, Report what. The keeper does not read it.
	Seen   time.Time
	Report []byte
	// Sessions and Entries are how much of it is kept. Forks is how often it sent
	// something else in place of what is kept.
	Sessions, Entries, Forks int64
}

// A Copy is what is kept of one session of a machine.
type Copy struct {
	Session floodmark.SessionID
	// Head is where it ends, Entries how many it has.
	Head    journal.Link
	Entries int64
	// At is when the last one was written, as the machine says.
	At time.Time
}

// A Page says which machines of a tenant are listed at once.
type Page struct {
	// After is the one they follow; empty for the first ones.
	After ID
	// Most is how many are listed, at most [MaxPage].
	Most int
	// Joined leaves out those that have ended.
	Joined bool
}

// A Book keeps machines, of many tenants. It is safe for concurrent use;
// machinestest.Run checks one.
type Book interface {
	// Enrol adds a machine.
	Enrol(ctx context.Context, m Machine) error
	// Use counts one use of a token to enrol of a tenant, at any node, and returns false, and
	// counts nothing, if it was used so often already.
	Use(ctx context.Context, tenant string, token floodmark.Digest, most int64) (bool, error)
	// Find returns a machine of any tenant, to compare its token, or [ErrUnknown].
	Find(ctx context.Context, id ID) (Machine, State, error)
	// End ends a machine: it left, or was revoked. One that has ended stays as it
	// is. It returns [ErrUnknown] if the tenant has no such machine.
	End(ctx context.Context, tenant string, id ID, as State, by string, at time.Time) error
	// Report keeps what a machine told of itself, in place of what it told before.
	Report(ctx context.Context, tenant string, id ID, at time.Time, report []byte) error
	// List returns machines of a tenant, in the order of their ids.
	List(ctx context.Context, tenant string, p Page) ([]Status, error)
	// Heads returns where the copies of sessions end; the zero link for those that
	// are not known.
	Heads(ctx context.Context, tenant string, id ID, sessions []floodmark.SessionID) ([]journal.Link, error)
	// Add adds to the copy of a session, durably, or says why not; it returns
	// where the copy ends. The upload was checked. A machine that has ended adds
	// nothing: it is [ErrUnknown].
	Add(ctx context.Context, tenant string, id ID, u Upload, at time.Time) (Outcome, journal.Link, error)
	// Read yields the copy of a session, in order. Where entries were erased on the
	// machine before they were uploaded, the first that follows stands behind a gap.
	// Where the fleet erased them, an entry of [GoneKind] comes first.
	Read(ctx context.Context, tenant string, id ID, s floodmark.SessionID) iter.Seq2[journal.Entry, error]
	// Copies returns the copies of a machine's sessions, the last written to first,
	// at most limit.
	Copies(ctx context.Context, tenant string, id ID, limit int) ([]Copy, error)
	Erasing
	Asking
}

var (
	// ErrUnknown says that there is no such machine.
	ErrUnknown = errors.New("there is no such machine")
	// ErrBad says that an upload is not what a machine could have written.
	ErrBad = errors.New("not a part of a journal")
)

// WhyEnded is told to a machine that was revoked or has left.
const WhyEnded = "this machine was revoked, or has left the fleet"

// The limits of what machines say.
const (
	MaxNameBytes   = 128
	MaxReportBytes = 64 << 10
	// MaxEntries and MaxBytes bound one upload. One entry alone may be as large as
	// a fact can be.
	MaxEntries = 512
	MaxBytes   = factjson.MaxBytes + 1<<20
	// MaxHeads is how many sessions are asked about at once.
	MaxHeads = 1000
	// MaxPage is how many machines are listed at once: with their reports 4 MiB.
	MaxPage = 64
	// MaxForks is how many forks of one machine are kept.
	MaxForks = 100
)

// CheckName refuses what no machine can be called: people read it in a list.
func CheckName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name {
		return errors.New("a machine's name has 1 to 128 bytes that can be printed")
	}
	return nil
}
