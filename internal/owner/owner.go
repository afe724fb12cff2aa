// Package owner answers the owner of agents: what happened, why, what waits for an answer, and the
// answers themselves. It decides nothing: the door authenticates the caller, the monitor decides.
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

// A Desk holds all that answers an owner's requests.
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
	// Rules returns the rules that hold for a tenant; Reload reads them again.
	Rules  func(tenant string) Rules
	Reload func(ctx context.Context, tenant string) Rules
	// Protecting announces that the owner's own «floodmark protect» is about to change them.
	Protecting func()
	// Signed are the rules that their authors signed; nil if there are none.
	Signed *Bundles
	// Notes are the warnings for people of a tenant, with the number of incidents.
	Notes func(tenant string) (lines []string, incidents int64)
	// Nodes tells the operator about a normal passing state of several nodes; nil, or empty:
	// nothing.
	Nodes func() string
	// Incident counts an incident and records it.
	Incident func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now      func() time.Time
	// Lasting names the sessions in which something was granted to a whole project; nil: none.
	Lasting func(tenant string) []floodmark.SessionID
	// Kept is what undo can restore of what calls replaced; nil if nothing is kept.
	Kept *undo.Store
	// Fleet joins and leaves a fleet; nil if that cannot be.
	Fleet Fleet
	// Teams are the repositories of teams; nil without a disk.
	Teams *Teams
	// Elsewhere lists questions opened by other nodes; nil on a single node.
	Elsewhere Elsewhere
	// Laptops ask the people of a fleet; nil if none can.
	Laptops Laptops
	// Mirror has copies of laptops' sessions; nil if none can join.
	Mirror machines.Book
	// MayAnswer says which groups may answer a question; nil: all callers. See [monitor.Config].
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool

	hunts   hunts
	cleaner *clean.Cleaner // nil unless it cleans
}

// A Fleet joins and leaves a fleet for a laptop.
type Fleet interface {
	Join(ctx context.Context, by string, r *wire.JoinRequest) (*wire.JoinResponse, error)
	Leave(ctx context.Context, by string) (*wire.LeaveResponse, error)
	// Line names the fleet that was joined and its state; empty for none.
	Line() string
	// Needs reports whether a session holds the record of joining, so that it must not be erased.
	Needs(s journal.Session) bool
}

// Codes are the codes of open questions.
type Codes interface {
	// Code returns the code of a question that is open.
	Code(s journal.Session, t floodmark.TicketID) (string, bool)
	// Named returns the open question a code belongs to.
	Named(code string) (journal.Session, floodmark.TicketID, bool)
}

// Rules are the rules in force and the result of the last try to change them.
type Rules struct {
	config.Rules
	Loaded time.Time
	// Fresh says that the last try brought other rules.
	Fresh bool
	// Problems are the errors in the file on disk; Refused says that it does not hold because of
	// them.
	Problems floodmark.Problems
	Refused  bool
	// Bundle says which versions of signed rules hold; empty where a file does.
	Bundle string
}

// terminalKey marks a request from a terminal: only there a code is shown. A pipe, a script or a
// model has none.
type terminalKey struct{}

// AtTerminal marks a request as one from a person's terminal.
func AtTerminal(ctx context.Context) context.Context {
	return context.WithValue(ctx, terminalKey{}, true)
}

func atTerminal(ctx context.Context) bool {
	at, _ := ctx.Value(terminalKey{}).(bool)
	return at
}
