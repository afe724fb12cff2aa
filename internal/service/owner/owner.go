// Package owner answers the requests of the owner of agents: what happened and why, which questions
// are open, and the answers to them. It makes no decisions: package httpapi authenticates the
// caller, and the monitor decides.
package owner

import (
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/project/clean"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/service/hunt"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A Desk answers the requests of owners.
type Desk struct {
	Monitor *monitor.Monitor
	Journal journal.Journal
	Hub     *Hub
	// Codes has the codes of open questions, for people at a terminal.
	Codes Codes
	// Key signs tombstones. Evidence is what the journal is verified with.
	Key      journal.Key
	Evidence journal.Evidence
	// The next fields are shown by status.
	Version, Engine, Place, Mode string
	Started                      time.Time
	// Rules returns the rules in force for a tenant. Reload loads them again.
	Rules  func(tenant string) Rules
	Reload func(ctx context.Context, tenant string) Rules
	// Protecting announces that the owner's own "floodmark protect" is about to change the rules.
	Protecting func()
	// Signed are the signed rules of tenants; nil if there are none.
	Signed *Bundles
	// Notes returns the warnings for people of a tenant, and the number of incidents.
	Notes func(tenant string) (lines []string, incidents int64)
	// Nodes returns a line on a normal temporary state of several nodes, or ""; nil on a single
	// node.
	Nodes func() string
	// Incident counts and records an incident.
	Incident func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now      func() time.Time
	// Lasting returns the sessions in which something was granted to a whole project; nil if there
	// are none.
	Lasting func(tenant string) []floodmark.SessionID
	// Kept stores what calls have replaced, for undo; nil if nothing is stored.
	Kept *undo.Store
	// Fleet joins and leaves a fleet; nil if this machine cannot join one.
	Fleet Fleet
	// Teams are the repositories of teams; nil without a disk.
	Teams *Teams
	// Elsewhere lists questions opened by other nodes; nil on a single node.
	Elsewhere Elsewhere
	// Laptops has the questions of a fleet's laptops; nil if no laptop can join.
	Laptops Laptops
	// Mirror has the copies of laptops' sessions; nil if no laptop can join.
	Mirror machines.Book
	// MayAnswer reports whether groups may answer a question; nil if all may. See [monitor.Config].
	MayAnswer func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool

	hunts   hunt.Hunts
	settled hunt.Settled
	cleaner *clean.Cleaner // nil if no agents run on this machine
}

// A Fleet joins and leaves a fleet for a laptop.
type Fleet interface {
	Join(ctx context.Context, by string, r *wire.JoinRequest) (*wire.JoinResponse, error)
	Leave(ctx context.Context, by string) (*wire.LeaveResponse, error)
	// Line returns a line about the fleet that was joined and its state, or "" if none was.
	Line() string
	// Needs reports whether a session contains the record of joining, so that it must not be
	// erased.
	Needs(s journal.Session) bool
}

// Codes knows the codes of open questions.
type Codes interface {
	// Code returns the code of a question that is open.
	Code(s journal.Session, t floodmark.TicketID) (string, bool)
	// Named returns the open question a code belongs to.
	Named(code string) (journal.Session, floodmark.TicketID, bool)
}

// Rules are the rules in force, and the result of the last attempt to change them.
type Rules struct {
	config.Rules
	Loaded time.Time
	// Fresh is set if the last attempt put other rules in force.
	Fresh bool
	// Problems are the errors in the file. Refused is set if the file is not in force because of
	// them.
	Problems floodmark.Problems
	Refused  bool
	// Bundle says which versions of signed rules are in force. It is empty if the rules are from a
	// file.
	Bundle string
}
