package hookframe

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"
)

// Most questions are answered at once. A question that a person has to answer may take longer than
// the asker's deadline. The code that waits for the person then reports, for this one question,
// that it still waits, and each report restarts the asker's deadline. No other code may report it.
// So if the monitor is gone, or hangs before or after the approval, no report is sent, and the
// asker takes that for a denial when its deadline is over.

// MaxPerson bounds how long an asker may wait for a person.
const MaxPerson = 30 * time.Minute

// A person is the time that the asker of one question gives a person to answer.
type person struct {
	conn  net.Conn
	base  context.Context // ends when the asker is gone
	until time.Time       // when the asker gives up waiting
	each  time.Duration   // the time for an answer between two frames
	v     int             // the version that was asked in
	shows bool            // the asker shows the question

	mu   sync.Mutex // guards what is below
	ask  string     // the question's words
	said Said       // nil: no question is shown
}

type (
	personKey struct{}
	stillKey  struct{}
)

// Waiting begins to wait for a person, for as long as the asker of ctx's question allows. It
// returns the context to wait under, with which [Still] is to be called, and judge. judge ends the
// wait and returns the context for judging, which has the ordinary deadline from then on. If the
// asker does not wait for a person, both contexts are ctx itself.
func Waiting(ctx context.Context) (waiting context.Context, judge func() (context.Context, context.CancelFunc)) {
	p, ok := ctx.Value(personKey{}).(*person)
	if !ok {
		return ctx, func() (context.Context, context.CancelFunc) { return ctx, func() {} }
	}
	waiting, end := p.under(context.WithValue(ctx, stillKey{}, p), p.until)
	return waiting, func() (context.Context, context.CancelFunc) {
		end()
		p.still() // the asker's deadline begins now
		return p.under(ctx, time.Now().Add(p.each))
	}
}

// Person returns how long the asker of ctx still waits for a person; zero if it does not.
func Person(ctx context.Context) time.Duration {
	p, ok := ctx.Value(personKey{}).(*person)
	if !ok {
		return 0
	}
	return max(0, time.Until(p.until))
}

// under returns ctx with another deadline. It is cancelled when the asker is gone.
func (p *person) under(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	stop := context.AfterFunc(p.base, cancel)
	return ctx, func() { stop(); cancel() }
}

// Still reports that the question which ctx is about still waits for a person. Call it only after
// checking that it is still open.
func Still(ctx context.Context) {
	if p, ok := ctx.Value(stillKey{}).(*person); ok && ctx.Err() == nil {
		p.still()
	}
}

// still restarts the asker's deadline. It ignores errors, because listen notices an asker that is
// gone.
func (p *person) still() {
	p.mu.Lock()
	ask := p.ask
	p.mu.Unlock()
	if p.conn.SetWriteDeadline(time.Now().Add(writeWithin)) == nil {
		_ = write(p.conn, stillFrame{V: p.v, Still: true, Ask: ask}, MaxResponse)
	}
}

// A stillFrame is sent before the answer, and only to an asker that sent [Request.PersonMS]. Ask is
// set only if the asker sent [Request.Shows].
type stillFrame struct {
	V     int    `json:"v"`
	Still bool   `json:"still"`
	Ask   string `json:"ask,omitempty"`
}

// isStill reports whether a frame says that the daemon still waits for a person, and nothing else.
// Any other frame is an answer or invalid.
func isStill(data []byte) bool {
	var f stillFrame
	return exactly(data, &f) && f == stillFrame{V: Version, Still: true}
}

// exactly decodes a frame, and reports whether it has no unknown fields and nothing behind it.
func exactly(data []byte, into any) bool {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into) == nil && !dec.More()
}

// Shows reports whether the asker of the question in ctx shows it to its user.
func Shows(ctx context.Context) bool {
	p, ok := ctx.Value(personKey{}).(*person)
	return ok && p.shows
}

// Said receives the answer of the asker's user. If no is true, it is a denial; otherwise it is no
// answer.
type Said func(ctx context.Context, no bool)

// Show lets the asker show a question while it waits, if its request has Shows set. At most one
// answer is read, and it can only be a denial, because any code that runs in the agent could send
// an approval. A denial lets nothing run, and the asker could always skip the call anyway.
func Show(ctx context.Context, words string, said Said) {
	p, ok := ctx.Value(personKey{}).(*person)
	if !ok || !p.shows || words == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask, p.said = words, said
}

// A noFrame says that a person answered no. A program that shows a question can send nothing else.
type noFrame struct {
	V  int  `json:"v"`
	No bool `json:"no"`
}

// maxNo bounds a noFrame.
const maxNo = 64

// listen passes denials of the shown question on. It returns when the asker is gone or sends
// anything else.
func (p *person) listen() {
	for {
		data, err := read(p.conn, maxNo)
		if err != nil {
			return
		}
		p.mu.Lock()
		said := p.said
		p.ask, p.said = "", nil
		p.mu.Unlock()
		if said == nil {
			return
		}
		var f noFrame
		no := exactly(data, &f) && f == noFrame{V: p.v, No: true}
		if said(p.base, no); !no {
			return
		}
	}
}
