package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/hook"
)

// relayVariable makes this program an agent that says what it is told to say: a process
// that reports events is not the owner, so the owner's process needs another one for it.
const relayVariable = "FLOODMARK_SOAK_RELAY"

// A saying is one event on its way to the monitor.
type saying struct {
	N     int        `json:"n"`
	Event hook.Event `json:"event"`
}

// A heard is what the monitor answered; Failed if it did not.
type heard struct {
	N       int                `json:"n"`
	Verdict string             `json:"verdict"`
	Ticket  floodmark.TicketID `json:"ticket,omitempty"`
	At      time.Time          `json:"at"`
	Failed  bool               `json:"failed,omitempty"`
}

// runRelay is the agent's process. It ends with its standard input.
func runRelay(socket string) {
	c, err := client.Dial(socket, client.Options{Timeout: 30 * time.Second})
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex // guards out
	out := json.NewEncoder(os.Stdout)
	for in := json.NewDecoder(bufio.NewReader(os.Stdin)); ; {
		var s saying
		if in.Decode(&s) != nil {
			return
		}
		go func() {
			reply, err := c.Handle(context.Background(), s.Event)
			h := heard{N: s.N, Verdict: reply.Decision.Verdict.String(), Ticket: reply.Ticket, At: time.Now(), Failed: err != nil || unjudged(reply)}
			mu.Lock()
			defer mu.Unlock()
			if out.Encode(h) != nil {
				os.Exit(3) // no reader is left
			}
		}()
	}
}

// A relay is that process, seen from here.
type relay struct {
	mu      sync.Mutex // guards what is below
	in      *json.Encoder
	n       int
	waiting map[int]chan heard
}

func newRelay(t *testing.T, socket string) *relay {
	t.Helper()
	r := &relay{waiting: map[int]chan heard{}}
	r.in = json.NewEncoder(asAgent(t, relayVariable+"="+socket, func(d *json.Decoder) error {
		var h heard
		if err := d.Decode(&h); err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting[h.N] <- h // it has room
		delete(r.waiting, h.N)
		return nil
	}))
	return r
}

// tell lets the agent report an event, and waits for the answer.
func (r *relay) tell(t *testing.T, ev hook.Event) heard {
	t.Helper()
	ev.Agent = "openclaw"
	to := make(chan heard, 1)
	r.mu.Lock()
	r.n++
	r.waiting[r.n] = to
	err := r.in.Encode(saying{N: r.n, Event: ev})
	r.mu.Unlock()
	if err != nil {
		t.Error(err)
		return heard{Failed: true}
	}
	return <-to
}
