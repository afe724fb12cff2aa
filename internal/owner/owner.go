// Package owner answers the owner of agents: what happened, why, what waits for
// an answer, and the answers themselves. It decides nothing: who may ask is
// proved by the door, what follows is the monitor's.
package owner

import (
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/clean"
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/undo"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A Desk is all that an owner's questions are answered from.
type Desk struct {
	Monitor *monitor.Monitor
	Journal journal.Journal
	Hub     *Hub
	// Codes has the codes of open questions, for people at a terminal.
	Codes Codes
	// Key and Evidence sign and check what is erased and kept.
	Key      journal.Key
	Evidence journal.Evidence
	// Facts about the service, for status.
	Version, Engine, Place, Mode string
	Started                      time.Time
	// Rules says which rules hold for a tenant; Reload reads them again.
	Rules  func(tenant string) Rules
	Reload func(ctx context.Context, tenant string) Rules
	// Protecting announces that the owner's own «floodmark protect» is about to change them.
	Protecting func()
	// Signed are the rules that their authors signed; nil where there are none.
	Signed *Bundles
	// Notes are what a person of a tenant should look at, with how many incidents
	// there were.
	Notes func(tenant string) (lines []string, incidents int64)
	// Nodes says, to whoever runs the monitor, what is usual for a while where there are
	// several; nil, or empty: nothing.
	Nodes func() string
	// Incident counts an incident and writes it down.
	Incident func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now      func() time.Time
	// Lasting names the sessions in which something was granted to a whole project; nil: none.
	Lasting func(tenant string) []floodmark.SessionID
	// Kept is what can be given back of what calls replaced; nil where nothing is kept.
	Kept *undo.Store
	// Fleet is the way to join one and to leave it; nil where that cannot be.
	Fleet Fleet
	// Teams are the repositories of teams; nil where no disk is looked at.
	Teams *Teams
	// Elsewhere finds what other nodes asked; nil where there are none.
	Elsewhere Elsewhere
	// Laptops ask the people of a fleet; nil where none can.
	Laptops Laptops
	// Mirror has copies of what laptops of the fleet wrote; nil where none can join.
	Mirror machines.Book
	// MayAnswer says whose questions are whose; nil: everybody's. See
	// [monitor.Config].
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool

	hunts   hunts
	cleaner *clean.Cleaner // nil unless it cleans
}

// A Fleet is what a laptop can do about fleets.
type Fleet interface {
	Join(ctx context.Context, by string, r *wire.JoinRequest) (*wire.JoinResponse, error)
	Leave(ctx context.Context, by string) (*wire.LeaveResponse, error)
	// Line says which fleet was joined and how that is going; empty for none.
	Line() string
	// Needs reports whether a session tells which fleet was joined, so that it must
	// not be erased.
	Needs(s journal.Session) bool
}

// Codes are the codes of open questions.
type Codes interface {
	// Code returns the code of a question that is open.
	Code(s journal.Session, t floodmark.TicketID) (string, bool)
	// Named returns the open question a code belongs to.
	Named(code string) (journal.Session, floodmark.TicketID, bool)
}

// Rules are the rules in force and what became of the last try to change them.
type Rules struct {
	config.Rules
	Loaded time.Time
	// Fresh says that the last try brought other rules.
	Fresh bool
	// Problems are what is wrong with the file as it lies there; Refused says
	// that it does not hold because of them.
	Problems floodmark.Problems
	Refused  bool
	// Bundle says which versions of signed rules hold; empty where a file does.
	Bundle string
}

// Terminal says that whoever asks has a terminal: only there is a code shown.
// A pipe, a script or a model has none.
type terminalKey struct{}

// AtTerminal marks a request as one from a person's terminal.
func AtTerminal(ctx context.Context) context.Context {
	return context.WithValue(ctx, terminalKey{}, true)
}

func atTerminal(ctx context.Context) bool {
	at, _ := ctx.Value(terminalKey{}).(bool)
	return at
}
