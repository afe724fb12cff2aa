package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/provenance"
)

var (
	// ErrBusy says that too many events are waiting already.
	ErrBusy = errors.New("monitor: busy")
	// ErrClosed says that the monitor is being stopped.
	ErrClosed = errors.New("monitor: closed")
	// ErrNoSession says that a session is unknown.
	ErrNoSession = errors.New("monitor: no such session")
	// ErrNoTenant says that a tenant has no key, so that none of its sessions is judged or shown.
	ErrNoTenant = errors.New("monitor: no such tenant")
	// ErrNoTicket says that a session has no such question.
	ErrNoTicket = errors.New("monitor: no such question")
	// ErrQuestions says that a tenant has too many open questions.
	ErrQuestions = errors.New("monitor: too many questions")
	// ErrPanic says that judging panicked, which is a bug of Floodmark.
	ErrPanic = errors.New("monitor: judging panicked")
	// ErrChildExists says that a sub-agent's session already exists.
	ErrChildExists = errors.New("monitor: the sub-agent's session exists already")
)

// A Refusal is why an event got the zero reply, or a command no answer. Reason says what went wrong
// and Hint what to do. Both are for people, and contain none of the session's content.
type Refusal struct {
	Reason, Hint string
	// Err is the cause, for programs.
	Err error
}

func (r *Refusal) Error() string {
	if r.Err == nil {
		return r.Reason
	}
	return r.Reason + ": " + r.Err.Error()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// refuse returns a failure as a [Refusal], or nil for nil.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[*Refusal](err); already {
		return err
	}
	if r := worded(err); r != nil {
		return r
	}
	return &Refusal{Reason: "this could not be judged or recorded", Hint: "Look at «floodmark status»: is there room on the disk, and does the journal answer?", Err: err}
}

// misread returns the [Refusal] of an event or a command that is itself invalid.
func misread(err error) error {
	if r := worded(err); r != nil {
		return r
	}
	return &Refusal{Reason: "this was not understood", Hint: "Check what the agent sends against the reference of the hook API.", Err: err}
}

// worded returns the wording of a failure we know, or nil.
func worded(err error) *Refusal {
	for _, known := range wordings() {
		if errors.Is(err, known.err) {
			return &Refusal{Reason: known.reason, Hint: known.hint, Err: err}
		}
	}
	return nil
}

type wording struct {
	err          error
	reason, hint string
}

func wordings() []wording {
	return []wording{
		{ErrBusy, "too much is happening at once", "Try again in a moment."},
		{ErrClosed, "the monitor is being stopped", "Start it again, then repeat the call."},
		{ErrNoSession, "nothing is known of this session", "Look at «floodmark journal sessions» for those that are."},
		{ErrNoTicket, "there is no such question", "It was never asked, or has been forgotten. Repeat the call to be asked again."},
		{ErrQuestions, "a person would have to be asked, and as many questions as this tenant may have wait already", "Answer some («floodmark approve»), then repeat the call."},
		{ErrNotYours, "another group answers this", "Ask somebody of that group; «answers» in service.yaml says who it is."},
		{ErrNoKey, "this session was born with a key that is not on this node", "Put the tenant's line back into tenants.keys and start the node again, or go on in a new session."},
		{ErrPanic, "judging this went wrong inside the monitor", "It was noted as an incident. Please report it with the output of «floodmark version»."},
		{ErrChildExists, "the sub-agent's session exists already", "Begin every sub-agent under a name of its own."},
		{journal.ErrBroken, "what is kept of this session is not what was written", "Run «floodmark journal verify», and go on in a new session."},
		{journal.ErrInDoubt, "it is not known whether this was recorded", "Try again: the session is read anew first."},
		{journal.ErrConflict, "others keep writing to this session", "Try again in a moment."},
		{journal.ErrTooLarge, "there is more to record than the journal takes at once", "Split the content, or begin a new session."},
		{journal.ErrFull, "there is no room on the disk to record this", "Make room; the monitor goes on by itself."},
		{journal.ErrStopped, "the journal writes no more, because a write failed", "Look at the disk, then start the monitor again."},
		{journal.ErrAway, "the journal's database does not answer", "See that it runs and can be reached; the monitor goes on by itself."},
		{journal.ErrClosed, "the journal is closed", "Start the monitor again, then repeat the call."},
		{hook.ErrTooLarge, "the event is too large", "Split the content."},
		{provenance.ErrSources, "this session has taken in too much", "Begin a new session."},
		{context.DeadlineExceeded, "there was no time left to judge and record this", "Try again. If it happens often, the disk or the database is slow."},
		{context.Canceled, "whoever asked has gone", "Repeat the call."},
	}
}

// broken returns the error for a session that is not as it was written.
func broken(s journal.Session, why string) error {
	return fmt.Errorf("%w: session %s: %s", journal.ErrBroken, s, why)
}
