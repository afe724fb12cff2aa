package owner

import (
	"context"
	"strings"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// Laptops gives access to the questions that the laptops of a fleet ask its people.
type Laptops interface {
	// Asked returns the open questions that the caller may answer, named by [LaptopSession].
	Asked(ctx context.Context, who httpapi.Identity) ([]*wire.Question, error)
	// Answer stores an answer until the laptop fetches it. It returns false if there is no such
	// question that the caller may answer. Without a session, only one laptop may have the ticket.
	Answer(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest) (*wire.AnswerResponse, bool, error)
}

// laptopPrefix begins the name of a session on a laptop, as a fleet's people see it.
const laptopPrefix = monitor.CopyPrefix

// LaptopSession returns the name that a fleet's people use for a session on a laptop.
func LaptopSession(machine, session string) string { return laptopPrefix + machine + "/" + session }

// askedByLaptops returns the laptops' questions, in one session or in all.
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

// answerLaptop answers a question of a laptop. It returns false if the request is not for one. A
// ticket alone is enough, unless a session of this monitor has a question with the same ticket,
// which takes precedence: a laptop chooses its own tickets, and must not get answers that are meant
// for another question.
func (d *Desk) answerLaptop(ctx context.Context, who httpapi.Identity, r *wire.AnswerRequest, named string) (*wire.AnswerResponse, bool, error) {
	if d.Laptops == nil || r.GetCode() != "" || named != "" && !strings.HasPrefix(named, laptopPrefix) {
		return nil, false, nil
	}
	return d.Laptops.Answer(ctx, who, r)
}
