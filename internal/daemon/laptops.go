package daemon

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/machines"
	"github.com/floodmark/floodmark/internal/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// laptops shows people of a fleet what laptops ask, and keeps their answers until
// the laptops fetch them. It decides nothing: a laptop takes an answer as one of
// several channels, and only for what it asked.
type laptops struct{ machineDesk }

var _ owner.Laptops = laptops{}

// laptopsDesk is nil where no laptop can join.
func (d *Daemon) laptopsDesk() owner.Laptops {
	if d.machines == nil {
		return nil
	}
	return laptops{machineDesk{d, d.machines}}
}

// AskFleet implements [httpapi.Machines].
func (m machineDesk) AskFleet(ctx context.Context, who httpapi.Identity, r *wire.AskFleetRequest) (*wire.AskFleetResponse, error) {
	if m.book == nil {
		return nil, errNoMachines()
	}
	for _, q := range r.GetQuestions() {
		q.Code = "" // a laptop shows none; if it does, nobody here sees it
	}
	data, err := proto.Marshal(r)
	if err != nil || len(data) > machines.MaxAskedBytes || len(r.GetQuestions()) > machines.MaxQuestions {
		return nil, fmt.Errorf("%w: at most %d questions with %d bytes are shown", httpapi.ErrInvalid, machines.MaxQuestions, machines.MaxAskedBytes)
	}
	leave, err := m.enter(ctx, who, int64(len(data)))
	if err != nil {
		return nil, err
	}
	defer leave()
	id := machines.ID(who.Machine)
	if err := m.known(m.book.Ask(ctx, who.Tenant, id, m.d.opts.Now(), data)); err != nil {
		return nil, err
	}
	kept, err := m.answers(ctx, who.Tenant, id)
	return &wire.AskFleetResponse{Answers: fitting(kept[id], r.GetQuestions())}, err
}

// fitting are the answers to what is asked, as many as the laptop reads at once: what
// it took it asks no more, and then come the others.
func fitting(kept []*wire.FleetAnswer, asked []*wire.Question) (list []*wire.FleetAnswer) {
	size := 0
	for _, a := range kept {
		is := slices.ContainsFunc(asked, func(q *wire.Question) bool {
			return q.GetTicket() == a.GetTicket() && q.GetSession() == a.GetSession()
		})
		if !is {
			continue
		}
		if size += proto.Size(a) + answerFrame; size > machines.MaxAskedBytes {
			break
		}
		list = append(list, a)
	}
	return list
}

// answerFrame is more than what stands around one answer among others.
const answerFrame = 16

// answers are those of the last minutes to machines' questions.
func (m machineDesk) answers(ctx context.Context, tenant string, ids ...machines.ID) (map[machines.ID][]*wire.FleetAnswer, error) {
	kept, err := m.book.Answers(ctx, tenant, ids, m.d.opts.Now().Add(-machines.AnswersFor))
	if err != nil {
		return nil, m.known(err)
	}
	all := map[machines.ID][]*wire.FleetAnswer{}
	for id, list := range kept {
		for _, data := range list {
			one := &wire.FleetAnswer{}
			if proto.Unmarshal(data, one) == nil { // a newer program may have written it
				all[id] = append(all[id], one)
			}
		}
	}
	return all, nil
}

// An asked is one question of a laptop.
type asked struct {
	machines.Asked
	*wire.Question
}

// open are the questions of a tenant's laptops that wait for whoever asks.
func (l laptops) open(ctx context.Context, who httpapi.Identity) (list []asked, err error) {
	now := l.d.opts.Now()
	all, err := l.book.Asked(ctx, who.Tenant, now.Add(-machines.AskedFor))
	if err != nil {
		return nil, err
	}
	var ids []machines.ID // of those that ask something
	for _, one := range all {
		r := &wire.AskFleetRequest{}
		if proto.Unmarshal(one.Open, r) != nil || len(r.GetQuestions()) == 0 {
			continue
		}
		ids = append(ids, one.Machine)
		for _, q := range r.GetQuestions() {
			if q.GetExpires().AsTime().After(now) && l.mayAnswer(who, q) {
				list = append(list, asked{one, q})
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	answered, err := l.answers(ctx, who.Tenant, ids...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(a asked) bool {
		return slices.ContainsFunc(answered[a.Machine], func(one *wire.FleetAnswer) bool { return one.GetTicket() == a.GetTicket() })
	}), nil
}

// mayAnswer reports whether a question is for whoever asks, as answers in
// service.yaml routes it.
func (l laptops) mayAnswer(who httpapi.Identity, q *wire.Question) bool {
	may := l.d.mayAnswer()
	if may == nil {
		return true
	}
	var tools []floodmark.ToolRef
	for _, call := range q.GetCalls() {
		t := call.GetAction().GetTool()
		tools = append(tools, floodmark.ToolRef{Agent: t.GetAgent(), Server: t.GetServer(), Name: t.GetName()})
	}
	return may(who.Groups, journal.Session{Tenant: who.Tenant, ID: floodmark.SessionID(q.GetSession())}, q.GetAgent(), tools)
}

// Asked implements [owner.Laptops].
func (l laptops) Asked(ctx context.Context, who httpapi.Identity) (list []*wire.Question, err error) {
	open, err := l.open(ctx, who)
	for _, a := range open {
		a.Session = owner.LaptopSession(string(a.Machine), a.GetSession())
		list = append(list, a.Question)
	}
	return list, err
}

// Answer implements [owner.Laptops].
func (l laptops) Answer(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, bool, error) {
	open, err := l.open(ctx, who)
	if err != nil {
		return nil, false, err
	}
	open = slices.DeleteFunc(open, func(a asked) bool {
		return a.GetTicket() != r.GetTicket() || r.GetSession() != "" && owner.LaptopSession(string(a.Machine), a.GetSession()) != r.GetSession()
	})
	if len(open) == 0 || r.GetTicket() == "" {
		return nil, false, nil
	}
	if len(open) > 1 && r.GetSession() == "" {
		return nil, true, fmt.Errorf("%w: %d laptops ask something under the ticket %s; name the session, too; «floodmark pending» lists them", httpapi.ErrInvalid, len(open), r.GetTicket())
	}
	a := open[0]
	if why := unfit(a.Question, r); why != "" {
		return &wire.AnswerResponse{Notice: why}, true, nil
	}
	data, err := proto.Marshal(&wire.FleetAnswer{
		Ticket: a.GetTicket(), Session: a.GetSession(), Verb: r.GetVerb(), Calls: r.GetCalls(), Tool: r.GetTool(), Offer: r.GetOffer(), Picked: r.GetPicked(), By: who.Name,
	})
	if err != nil || len(data) > machines.MaxAnswerBytes {
		return nil, true, fmt.Errorf("%w: the answer is too long", httpapi.ErrInvalid)
	}
	first, err := l.book.Answer(ctx, who.Tenant, a.Machine, a.GetTicket(), l.d.opts.Now(), data)
	if err != nil {
		return nil, true, err
	}
	if !first {
		return &wire.AnswerResponse{Notice: "Somebody else answered it a moment ago."}, true, nil
	}
	verb := "denied"
	if r.GetVerb() == "approve" {
		verb = "approved"
	}
	text := fmt.Sprintf("question %s of machine %s (%q), session %q, was %s by %s (%s)", a.GetTicket(), a.Machine, a.Name, a.GetSession(), verb, who.Name, who.Channel)
	if err := l.written(ctx, who.Tenant, "laptop-answered", text); err != nil {
		return nil, true, err
	}
	return &wire.AnswerResponse{Answered: true, Notice: "It is " + verb + "; " + a.Name + " takes the answer within seconds, unless it has another by then."}, true, nil
}

// unfit says why an answer does not fit the question as it was shown; empty if it
// does.
func unfit(q *wire.Question, r *wire.AnswerRequest) string {
	approve := r.GetVerb() == "approve"
	switch {
	case approve && q.GetTwo():
		return "It takes two people at that machine: a fleet can only deny it."
	case approve && (int(r.GetCalls()) != len(q.GetCalls()) || r.GetCalls() == 0):
		return "The question has changed: look at it again."
	case approve && unnamed(q, r):
		return "It also wants to hear the place it goes to: say it with --place."
	case r.GetMinutes() != 0:
		return "At a laptop of the fleet an approval has no time of its own: leave it out, or take an offer."
	case r.GetOffer() != 0 && (len(q.GetCalls()) != 1 || int(r.GetOffer()) > len(q.GetCalls()[0].GetOffers())):
		return "There is no such offer."
	case len(r.GetPicked()) > approval.MaxCommandBytes:
		return "That is too long for a place."
	}
	return ""
}

// unnamed reports whether an approval of all that is shown leaves out a place that
// has to be named. With one tool of several the laptop itself says so.
func unnamed(q *wire.Question, r *wire.AnswerRequest) bool {
	return r.GetPicked() == "" && (r.GetTool() == "" || r.GetTool() == approval.All) &&
		slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return c.GetPick() != nil })
}
