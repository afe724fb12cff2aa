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

// A State says whether a machine is admitted. With the zero State it is not.
type State string

// The states of a machine. A machine that has ended never joins again.
const (
	Joined  State = "joined"
	Left    State = "left"    // the machine left by itself
	Revoked State = "revoked" // an admin revoked it
)

// A Machine is a machine as it was enrolled. None of this changes.
type Machine struct {
	Tenant string
	ID     ID
	// Name is what people call it. By is who enrolled it.
	Name, By string
	At       time.Time
	// Token is the SHA-256 of the token by which the machine proves itself.
	Token floodmark.Digest
	// JournalKey is the public key that verifies the machine's tombstones.
	JournalKey string
}

// A Status is all that is known of a machine.
type Status struct {
	Machine
	State   State
	EndedBy string // who ended it; empty while it is joined
	// Seen is when the machine last reported. Report is that report; the book does not read it.
	Seen   time.Time
	Report []byte
	// Sessions and Entries count what is stored of it. Forks counts how often it sent entries that
	// differ from the stored ones.
	Sessions, Entries, Forks int64
}

// A Copy describes what is stored of one session of a machine.
type Copy struct {
	Session floodmark.SessionID
	// Head is where the copy ends. Entries is how many entries it has.
	Head    journal.Link
	Entries int64
	// At is when the last entry was written, by the machine's clock.
	At time.Time
}

// A Page says which machines of a tenant are listed at once.
type Page struct {
	// After is the machine before the first one listed; empty to begin at the start.
	After ID
	// Most is how many are listed, at most [MaxPage].
	Most int
	// Joined leaves out machines that have ended.
	Joined bool
}

// A Book stores the machines of many tenants. It is safe for concurrent use. machinestest.Run
// checks an implementation.
type Book interface {
	// Enrol adds a machine.
	Enrol(ctx context.Context, m Machine) error
	// Use counts one use of a tenant's token for enrolling, at any node. If it was used most times
	// already, Use counts nothing and returns false.
	Use(ctx context.Context, tenant string, token floodmark.Digest, most int64) (bool, error)
	// Find returns a machine of any tenant, to compare its token, or [ErrUnknown].
	Find(ctx context.Context, id ID) (Machine, State, error)
	// End ends a machine, because it left or was revoked. A machine that has ended stays as it is.
	// End returns [ErrUnknown] if the tenant has no such machine.
	End(ctx context.Context, tenant string, id ID, as State, by string, at time.Time) error
	// Report stores a machine's report, in place of the one before.
	Report(ctx context.Context, tenant string, id ID, at time.Time, report []byte) error
	// List returns machines of a tenant, in the order of their ids.
	List(ctx context.Context, tenant string, p Page) ([]Status, error)
	// Heads returns where the copies of sessions end; the zero link for a session without a copy.
	Heads(ctx context.Context, tenant string, id ID, sessions []floodmark.SessionID) ([]journal.Link, error)
	// Add adds a checked upload to the copy of a session, durably. It returns what became of the
	// upload and where the copy ends now. For a machine that has ended it adds nothing and returns
	// [ErrUnknown].
	Add(ctx context.Context, tenant string, id ID, u Upload, at time.Time) (Outcome, journal.Link, error)
	// Read yields the copy of a session, in order. If entries were erased on the machine before
	// they were uploaded, there is a gap before the next entry. If the fleet erased entries, an
	// entry of [GoneKind] comes first.
	Read(ctx context.Context, tenant string, id ID, s floodmark.SessionID) iter.Seq2[journal.Entry, error]
	// Copies returns at most limit copies of a machine's sessions, the last written first.
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

// WhyEnded is the text that a machine gets which was revoked or has left.
const WhyEnded = "this machine was revoked, or has left the fleet"

// The limits of what machines send.
const (
	MaxNameBytes   = 128
	MaxReportBytes = 64 << 10
	// MaxEntries and MaxBytes bound one upload. MaxBytes leaves room for the largest fact.
	MaxEntries = 512
	MaxBytes   = factjson.MaxBytes + 1<<20
	// MaxHeads bounds the sessions of one call of Heads.
	MaxHeads = 1000
	// MaxPage bounds the machines that are listed at once. With their reports that is 4 MiB.
	MaxPage = 64
	// MaxForks bounds the forks of one machine that are counted.
	MaxForks = 100
)

// CheckName returns why a machine must not have this name, or nil. People read the name in a list.
func CheckName(name string) error {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > MaxNameBytes || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name {
		return errors.New("a machine's name has 1 to 128 bytes that can be printed")
	}
	return nil
}
