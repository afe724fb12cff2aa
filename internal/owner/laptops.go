package owner

import (
	"context"
	"strings"

	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Laptops are the machines of a fleet that ask its people.
type Laptops interface {
	// Asked returns the open questions that the caller may answer, in sessions that [LaptopSession]
	// names.
	Asked(ctx context.Context, who httpapi.Identity) ([]*wire.Question, error)
	// Answer stores an answer until the laptop fetches it; false if the caller has no such
	// question. Without a session the ticket must be that of one laptop only.
	Answer(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, bool, error)
}

// laptopPrefix begins the name of a session on a laptop, as a fleet's people see it.
const laptopPrefix = monitor.CopyPrefix

// LaptopSession returns the name that a fleet's people use for a session on a laptop.
func LaptopSession(machine, session string) string { return laptopPrefix + machine + "/" + session }

// askedByLaptops returns their questions, in one session or in all.
func (d *Desk) askedByLaptops(ctx context.Context, who httpapi.Identity, session string) ([]*wire.Question, error) {
	if d.Laptops == nil || session != "" && !strings.HasPrefix(session, laptopPrefix) {
		return nil, nil
	}
	list, err := d.Laptops.Asked(ctx, who)
	if err != nil || session == "" {
		return list, err
	}
	var of []*wire.Question
	for _, q := range list {
		if q.GetSession() == session {
			of = append(of, q)
		}
	}
	return of, nil
}

// answerLaptop answers a question of a laptop; false if it is none. A ticket alone is enough,
// unless a session of the fleet's own agents has a question of that name, which then is meant: a
// laptop chooses its tickets, and must not take answers meant for others.
func (d *Desk) answerLaptop(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest, named string) (*wire.AnswerResponse, bool, error) {
	if d.Laptops == nil || r.GetCode() != "" || named != "" && !strings.HasPrefix(named, laptopPrefix) {
		return nil, false, nil
	}
	return d.Laptops.Answer(ctx, who, r)
}
