package guard

import (
	"strings"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// NoAnswer is what a model reads if the monitor could not be asked.
const NoAnswer = "the monitor did not answer, so nothing is allowed. Ask the owner to run «floodmark status», and go on without this."

// Denied is the error for something that is not allowed. Its text is meant for the model: what was
// refused, why, and what to do instead.
type Denied struct {
	Verdict floodmark.Verdict
	Line    string
	// Ticket is the question that a person is asked, if there is one. After an approval the
	// identical call is allowed.
	Ticket floodmark.TicketID
	// BlockTurn says that the whole turn has to end.
	BlockTurn bool
	// Err is why the monitor gave no answer; nil if it gave one.
	Err error
}

func (d *Denied) Error() string { return "floodmark: " + d.Line }

// Unwrap returns why the monitor gave no answer.
func (d *Denied) Unwrap() error { return d.Err }

// denied returns the error for a reply that does not allow, and for an error. A reply that needs
// verifiers is also refused, because none was asked here.
func denied(r hook.Reply, err error) *Denied {
	d := &Denied{Verdict: r.Decision.Verdict, Line: r.Line, Ticket: r.Ticket, BlockTurn: r.BlockTurn, Err: err}
	if err != nil {
		d.Verdict, d.Ticket = floodmark.Restrict, ""
		if d.Line == "" {
			d.Line = NoAnswer
		}
		return d
	}
	switch elsewhere := r.Elsewhere(); {
	case elsewhere != nil:
		d.Line = "refused because " + elsewhere.Error() + "."
	case d.Verdict == floodmark.Allow && len(r.Decision.Verifiers) > 0:
		d.Line = "refused because these must agree first and were not asked: " + strings.Join(r.Decision.Verifiers, ", ") + "."
	case d.Line == "" && len(r.Decision.Reasons) > 0:
		d.Line = "refused because " + r.Decision.Reasons[0].Text + "."
	case d.Line == "":
		d.Line = "refused."
	}
	d.Verdict = min(d.Verdict, floodmark.Audit) // so that it is never an allow
	if todo := r.Decision.Remedy.Agent; todo != "" {
		d.Line += " " + todo
	}
	return d
}

// Withheld is the error for a tool that ran, but whose result is kept back, because the monitor
// could not record it and its origin would be unknown.
type Withheld struct {
	Tool string
	// Err is why, for logs. It is not unwrapped, so that it is not mistaken for a sign that the
	// tool did not run.
	Err error
}

func (w *Withheld) Error() string {
	return "floodmark: " + w.Tool + " ran, but its result was not taken in and is kept back. Ask the owner to run «floodmark status»."
}

// maxLines bounds the refusals that a session remembers.
const maxLines = 1024

// lines remembers the refusals that a model was given, so that they are not taken for content of
// unknown origin when they come back.
type lines struct {
	mu   sync.Mutex // guards said and next
	said map[string]bool
	next []string
}

func (l *lines) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said[text] {
		return
	}
	if l.said == nil {
		l.said = map[string]bool{}
	}
	if len(l.next) == maxLines {
		delete(l.said, l.next[0])
		l.next = l.next[1:]
	}
	l.said[text] = true
	l.next = append(l.next, text)
}

// Ours reports whether a text is a refusal that this session gave to the model.
func (s *Session) Ours(text string) bool {
	s.refused.mu.Lock()
	defer s.refused.mu.Unlock()
	return s.refused.said[text]
}
