package membership

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// byFleet is the channel of answers that people of a fleet gave.
const byFleet = "fleet"

// While a question is open, the fleet is asked this often; after failures at growing intervals.
const (
	askEvery   = 2 * time.Second
	askSeldom  = 30 * time.Second
	askTimeout = 20 * time.Second
)

// An Asker shows the open questions of this laptop to people of its fleet, and passes their answers
// through the same checks as all others. It has its own connection, which no agent can reach.
type Asker struct {
	node  Parts
	log   *slog.Logger
	fleet wire.MachineServiceClient
	shown bool              // the fleet shows something of ours
	done  map[answerID]bool // answers that were passed on
}

// NewAsker returns an Asker that knows of no answer yet. For Open and Take it needs no fleet.
func NewAsker(p Parts, log *slog.Logger, fleet wire.MachineServiceClient) *Asker {
	return &Asker{node: p, log: log, fleet: fleet, done: map[answerID]bool{}}
}

// An answerID identifies an answer to a question as it was shown: if the question changes, it may
// be answered again.
type answerID struct{ ticket, seen, verb string }

// asks runs until ctx ends.
func (j *Laptop) asks(ctx context.Context, m fleetlink.Membership) {
	c, err := fleetlink.Dial(m.URL, m.Authority, m.Token)
	if err != nil {
		j.opts.Log.Error("the fleet is not asked", "error", err)
		return
	}
	defer c.Close()
	a := NewAsker(j.node, j.opts.Log, wire.NewMachineServiceClient(c.Web, c.Base, connect.WithReadMaxBytes(machines.MaxAskedBytes)))
	every := askEvery
	if j.opts.Every > 0 {
		every = j.opts.Every
	}
	for wait := every; j.opts.Wait(ctx, LoopAsks, wait); {
		if err := a.round(ctx); err != nil {
			wait = max(every, min(2*wait, askSeldom))
		} else {
			wait = every
		}
	}
}

// round shows the open questions, and fetches the answers.
func (a *Asker) round(ctx context.Context) error {
	if !a.node.Waiting() && !a.shown {
		return nil
	}
	open, err := a.Open(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	got, err := a.fleet.AskFleet(ctx, &wire.AskFleetRequest{Questions: open})
	if err != nil {
		return err
	}
	a.shown = len(open) > 0
	for _, one := range got.GetAnswers() {
		a.Take(ctx, open, one)
	}
	return nil
}

// Open returns the questions as people see them, without codes. Questions that only a group here may
// answer are not among them. It also leaves out questions that wait for the end of quiet hours, and
// questions without text for people.
func (a *Asker) Open(ctx context.Context) ([]*wire.Question, error) {
	all, err := a.node.Questions(ctx, byFleet)
	if err != nil {
		return nil, err
	}
	var list []*wire.Question
	size := 0
	for _, q := range all.GetQuestions() {
		q.Code = ""
		size += proto.Size(q) + 8
		mute := q.GetHeld() != nil || len(q.GetCalls()) == 0 || slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return len(c.GetCard()) == 0 })
		if mute || size > machines.MaxAskedBytes || len(list) == machines.MaxQuestions {
			continue
		}
		list = append(list, q)
	}
	return list, nil
}

// Take applies one answer if its question is still as it was shown. The journal records who gave
// it.
func (a *Asker) Take(ctx context.Context, open []*wire.Question, one *wire.FleetAnswer) {
	id := answerID{one.GetTicket(), one.GetSeen(), one.GetVerb()}
	fits := slices.ContainsFunc(open, func(q *wire.Question) bool { return machines.Fits(q, one) })
	if !fits || a.done[id] {
		return
	}
	cmd := approval.Command{Ticket: floodmark.TicketID(id.ticket), Tool: approval.All, By: one.GetBy(), Channel: byFleet}
	if machines.CheckName(cmd.By) != nil {
		cmd.By = "somebody"
	}
	switch id.verb {
	case "deny":
		cmd.Verb = approval.Deny
	case "approve":
		cmd.Verb, cmd.Calls, cmd.Offer, cmd.Picked, cmd.Seen = approval.Approve, int(one.GetCalls()), int(one.GetOffer()), one.GetPicked(), one.GetSeen()
		if one.GetTool() != "" {
			cmd.Tool = one.GetTool()
		}
	default:
		return
	}
	s := journal.Session{ID: floodmark.SessionID(one.GetSession())}
	if _, err := a.node.Answer(monitor.AsMember(ctx), s, cmd); err != nil {
		a.log.Warn("an answer of the fleet was not taken", "ticket", id.ticket, "error", err)
		return // the fleet sends it again
	}
	if len(a.done) > 16*machines.MaxQuestions {
		clear(a.done)
	}
	a.done[id] = true
}
