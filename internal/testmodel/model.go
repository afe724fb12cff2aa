// Package testmodel is a model that says what it was told to say: a server on
// loopback which real agents take for their model service. It thinks nothing;
// it keeps what the agents sent.
package testmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// MaxRequest bounds what an agent sends at one call of the model.
const MaxRequest = 32 << 20

// A Step is what the model says once: text, or tools to call, or both.
type Step struct {
	Text  string
	Calls []Call
	// Full says that the context is nearly full, so that the agent compacts it.
	Full bool
}

// How much context a step says is in use, to agents that speak either interface: nearly
// all that they believe this model to have.
const (
	fullChat      = 126_000
	fullResponses = 250_000
)

// used is how many tokens the context has, as the model counts.
func (s Step) used(full int) int {
	if s.Full {
		return full
	}
	return 1
}

// A Call is a tool the model wants called.
type Call struct {
	Namespace string // of a group of tools, where the agent has such
	Name      string
	Args      any
}

// A Turn is the conversation as the model sees it when it is asked.
type Turn struct {
	// Number counts the calls of the model, from 0.
	Number int
	// Results are what tools gave so far, oldest first, as the model reads them.
	Results []string
	// Header and Body are the whole request.
	Header http.Header
	Body   json.RawMessage
}

// A Model answers calls. The zero Model has nothing to say; set Say before use.
type Model struct {
	// Say decides what comes next. It is called for one turn at a time.
	Say func(Turn) Step
	// Aside answers what agents ask beside the conversation, for a title or for
	// who speaks next: requests that offer no tools. They are no turns then.
	// Empty: they are turns like all others.
	Aside string

	mu    sync.Mutex // guards what follows, and Say
	turns []Turn
}

// Script says one step after the other, and the last one for ever.
func Script(steps ...Step) func(Turn) Step {
	return func(t Turn) Step {
		if len(steps) == 0 {
			return Step{Text: "Done."}
		}
		return steps[min(t.Number, len(steps)-1)]
	}
}

// Turns returns what the model was asked so far.
func (m *Model) Turns() []Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Turn(nil), m.turns...)
}

// Handler serves the model by the interfaces agents speak: chat completions,
// responses and the Gemini API, all streamed or not.
func (m *Model) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.serve(chatResults, chatAnswer))
	mux.HandleFunc("POST /v1/responses", m.serve(responsesResults, responsesAnswer))
	mux.HandleFunc("POST /v1beta/models/{call}", m.gemini)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": Name, "object": "model"}}})
	})
	return mux
}

// Name is what the model is called.
const Name = "scripted"

// asked is one request as its interface's reader understands it.
type asked struct {
	results []string // what tools gave so far
	tools   int      // how many are offered
	stream  bool     // the answer is wanted piece by piece
	json    bool     // the answer is wanted as an object
}

type (
	reader func(body []byte) (asked, error)
	writer func(w http.ResponseWriter, s Step, turn int, stream bool)
)

func (m *Model) serve(read reader, write writer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, MaxRequest+1))
		if err == nil && len(body) > MaxRequest {
			err = errors.New("the request is too large")
		}
		var a asked
		if err == nil {
			a, err = read(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if m.Aside != "" && a.tools == 0 {
			write(w, Step{Text: m.aside(a.json)}, 0, a.stream)
			return
		}
		step, n := m.next(Turn{Results: a.results, Header: r.Header, Body: body})
		write(w, step, n, a.stream)
	}
}

// aside is the answer beside the conversation. As an object it leaves the word
// to the person, in the manner of the one agent that asks for it.
func (m *Model) aside(object bool) string {
	if !object {
		return m.Aside
	}
	data, err := json.Marshal(map[string]string{"reasoning": m.Aside, "next_speaker": "user"})
	if err != nil {
		return "{}"
	}
	return string(data)
}

func (m *Model) next(t Turn) (Step, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Number = len(m.turns)
	m.turns = append(m.turns, t)
	if m.Say == nil {
		return Step{Text: "I have nothing to say."}, t.Number
	}
	return m.Say(t), t.Number
}

// arguments writes a call's arguments the way models do: as text.
func (c Call) arguments() string {
	if c.Args == nil {
		return "{}"
	}
	data, err := json.Marshal(c.Args)
	if err != nil {
		return "{}"
	}
	return string(data)
}

func callID(turn, i int) string { return fmt.Sprintf("call_%d_%d", turn, i) }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // whoever asked is gone, if anything
}

// events streams server-sent events.
type events struct {
	w http.ResponseWriter
}

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return events{w}
}

func (e events) send(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", data)
}

// text gathers what a content says, whether it is one text or a list of parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.Text
	}
	return strings.Join(list, "\n")
}
