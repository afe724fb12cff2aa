package fleetdesk

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// AskFleet implements [httpapi.Machines].
func (d Desk) AskFleet(ctx context.Context, who httpapi.Identity, r *wire.AskFleetRequest) (*wire.AskFleetResponse, error) {
	if d.Book == nil {
		return nil, errNoMachines()
	}
	for _, q := range r.GetQuestions() {
		q.Code = "" // a laptop sends no code; if it does, the code is not stored
	}
	data, err := proto.Marshal(r)
	if err != nil || len(data) > machines.MaxAskedBytes || len(r.GetQuestions()) > machines.MaxQuestions {
		return nil, fmt.Errorf("%w: at most %d questions with %d bytes are shown", httpapi.ErrInvalid, machines.MaxQuestions, machines.MaxAskedBytes)
	}
	leave, err := d.Enter(ctx, who, int64(len(data)))
	if err != nil {
		return nil, err
	}
	defer leave()
	id := machines.ID(who.Machine)
	if err := d.worded(d.Book.Ask(ctx, who.Tenant, id, d.Now(), data)); err != nil {
		return nil, err
	}
	kept, err := d.answers(ctx, who.Tenant, id)
	return &wire.AskFleetResponse{Answers: fitting(kept[id], r.GetQuestions())}, err
}

// fitting returns the answers to the questions that are open now, as many as the laptop reads at
// once. The laptop then no longer asks the answered questions, and gets the other answers next
// time.
func fitting(kept []*wire.FleetAnswer, asked []*wire.Question) (list []*wire.FleetAnswer) {
	size := 0
	for _, q := range asked {
		a := answerTo(q, kept)
		if a == nil {
			continue
		}
		if size += proto.Size(a) + answerFrame; size > machines.MaxAskedBytes {
			break
		}
		list = append(list, a)
	}
	return list
}

// answerTo returns the answer to a question in its current form. It returns nil if there is none,
// or only one to an earlier form of the question. A denial takes precedence over an approval.
func answerTo(q *wire.Question, kept []*wire.FleetAnswer) (found *wire.FleetAnswer) {
	for _, a := range kept {
		if machines.Fits(q, a) && (found == nil || a.GetVerb() == "deny") {
			found = a
		}
	}
	return found
}

// answerFrame is an upper bound of the bytes that are added to an answer in a list of answers.
const answerFrame = 16

// answers returns the recent answers to machines' questions, not older than [machines.AnswersFor].
func (d Desk) answers(ctx context.Context, tenant string, ids ...machines.ID) (map[machines.ID][]*wire.FleetAnswer, error) {
	kept, err := d.Book.Answers(ctx, tenant, ids, d.Now().Add(-machines.AnswersFor))
	if err != nil {
		return nil, d.worded(err)
	}
	all := map[machines.ID][]*wire.FleetAnswer{}
	for id, list := range kept {
		for _, data := range list {
			one := &wire.FleetAnswer{}
			if proto.Unmarshal(data, one) == nil { // an unreadable answer may be from a newer program
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

// open returns the open questions of a tenant's laptops that the caller may answer.
func (d Desk) open(ctx context.Context, who httpapi.Identity) (list []asked, err error) {
	now := d.Now()
	all, err := d.Book.Asked(ctx, who.Tenant, now.Add(-machines.AskedFor))
	if err != nil {
		return nil, err
	}
	var ids []machines.ID // the machines that ask something
	for _, one := range all {
		r := &wire.AskFleetRequest{}
		if proto.Unmarshal(one.Open, r) != nil || len(r.GetQuestions()) == 0 {
			continue
		}
		ids = append(ids, one.Machine)
		for _, q := range r.GetQuestions() {
			if q.GetExpires().AsTime().After(now) && d.mayAnswer(who, q) {
				list = append(list, asked{one, q})
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	answered, err := d.answers(ctx, who.Tenant, ids...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(a asked) bool { return answerTo(a.Question, answered[a.Machine]) != nil }), nil
}

// mayAnswer reports whether the caller may answer a question, by the section answers of
// service.yaml.
func (d Desk) mayAnswer(who httpapi.Identity, q *wire.Question) bool {
	if d.MayAnswer == nil {
		return true
	}
	var tools []floodmark.ToolRef
	for _, call := range q.GetCalls() {
		t := call.GetAction().GetTool()
		tools = append(tools, floodmark.ToolRef{Agent: t.GetAgent(), Server: t.GetServer(), Name: t.GetName()})
	}
	return d.MayAnswer(who.Groups, journal.Session{Tenant: who.Tenant, ID: floodmark.SessionID(q.GetSession())}, q.GetAgent(), tools)
}

// Asked implements [owner.Laptops].
func (d Desk) Asked(ctx context.Context, who httpapi.Identity) (list []*wire.Question, err error) {
	open, err := d.open(ctx, who)
	for _, a := range open {
		a.Session = owner.LaptopSession(string(a.Machine), a.GetSession())
		list = append(list, a.Question)
	}
	return list, err
}

// Answer implements [owner.Laptops].
func (d Desk) Answer(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, bool, error) {
	open, err := d.open(ctx, who)
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
		return nil, true, fmt.Errorf("%w: %d laptops ask something under the ticket %s; name the session, too; «floodmark approve» lists them", httpapi.ErrInvalid, len(open), r.GetTicket())
	}
	a := open[0]
	if why := machines.Unfit(a.Question, r); why != "" {
		return &wire.AnswerResponse{Notice: why}, true, nil
	}
	data, err := proto.Marshal(&wire.FleetAnswer{
		Ticket: a.GetTicket(), Session: a.GetSession(), Verb: r.GetVerb(), Calls: r.GetCalls(), Tool: r.GetTool(), Offer: r.GetOffer(), Picked: r.GetPicked(), By: who.Name,
		Seen: r.GetSeen(),
	})
	if err != nil || len(data) > machines.MaxAnswerBytes {
		return nil, true, fmt.Errorf("%w: the answer is too long", httpapi.ErrInvalid)
	}
	first, err := d.Book.Answer(ctx, who.Tenant, a.Machine, machines.Slot(a.Question), d.Now(), data)
	if err != nil {
		return nil, true, err
	}
	if !first {
		return &wire.AnswerResponse{Notice: "Another person answered it a moment ago."}, true, nil
	}
	verb := "denied"
	if r.GetVerb() == "approve" {
		verb = "approved"
	}
	text := fmt.Sprintf("question %s of machine %s (%q), session %q, was %s by %s (%s)", a.GetTicket(), a.Machine, a.Name, a.GetSession(), verb, who.Name, who.Channel)
	if err := d.written(ctx, who.Tenant, "laptop-answered", text); err != nil {
		return nil, true, err
	}
	return &wire.AnswerResponse{Answered: true, Notice: "It is " + verb + "; " + a.Name + " takes the answer within seconds, unless it has another by then."}, true, nil
}
