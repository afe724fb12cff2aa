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

// relayVariable is the environment variable that makes this program run [runRelay]. Its value is
// the socket of the monitor. A process that reports events cannot be the owner, so the test needs
// another process for them.
const relayVariable = "FLOODMARK_SOAK_RELAY"

// A saying is one event that the relay sends to the monitor.
type saying struct {
	N     int        `json:"n"`
	Event hook.Event `json:"event"`
}

// A heard is the monitor's answer to a saying. Failed says that there was none, or that the event
// was not judged.
type heard struct {
	N       int                `json:"n"`
	Verdict string             `json:"verdict"`
	Ticket  floodmark.TicketID `json:"ticket,omitempty"`
	At      time.Time          `json:"at"`
	Failed  bool               `json:"failed,omitempty"`
}

// runRelay is the agent's process. It sends the events that it reads from standard input, until the
// input ends.
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

// A relay is the test's side of the agent's process.
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
		r.waiting[h.N] <- h // never blocks, because the channel has room for one
		delete(r.waiting, h.N)
		return nil
	}))
	return r
}

// tell makes the agent report an event, and waits for the answer.
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
