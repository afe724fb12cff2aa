// Package testmodel is a scripted model for tests: a handler that real agents use as their model
// service. It answers with the steps it was given, and records what the agents sent.
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

// MaxRequest bounds one request of an agent, in bytes.
const MaxRequest = 32 << 20

// A Step is what the model says once: text, or tools to call, or both.
type Step struct {
	Text  string
	Calls []Call
	// Full says that the context is nearly full, so that the agent compacts it.
	Full bool
}

// How many tokens a Full step reports as used, in chat completions and in responses. It is nearly
// all that agents believe this model to have.
const (
	fullChat      = 126_000
	fullResponses = 250_000
)

// used returns how many tokens of context the step reports as used.
func (s Step) used(full int) int {
	if s.Full {
		return full
	}
	return 1
}

// A Call is a tool the model wants called.
type Call struct {
	Namespace string // of a group of tools, if the agent has groups
	Name      string
	Args      any
}

// A Turn is one request to the model.
type Turn struct {
	// Number counts the calls of the model, from 0.
	Number int
	// Results are the texts of all tool results so far, oldest first.
	Results []string
	// Header and Body are the whole request.
	Header http.Header
	Body   json.RawMessage
}

// A Model answers calls. Set Say before use; without it, every answer is a fixed text.
type Model struct {
	// Say returns the answer to a turn. It is called for one turn at a time.
	Say func(Turn) Step
	// Aside, if not empty, is the answer to requests that offer no tools. Agents make them beside
	// the conversation, for a title or to ask who speaks next. They are not counted as turns. If
	// Aside is empty, they are turns like all others.
	Aside string

	mu    sync.Mutex // guards turns and the calls of Say
	turns []Turn
}

// Script returns a Say that answers with one step after the other, and then repeats the last one.
func Script(steps ...Step) func(Turn) Step {
	return func(t Turn) Step {
		if len(steps) == 0 {
			return Step{Text: "Done."}
		}
		return steps[min(t.Number, len(steps)-1)]
	}
}

// Turns returns the turns so far.
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

// Name is the model's name.
const Name = "scripted"

// asked is what the model needs of a request, whatever its interface.
type asked struct {
	results []string // the texts of all tool results so far
	tools   int      // how many are offered
	stream  bool     // the agent wants a streamed answer
	json    bool     // the agent wants a JSON object
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

// aside returns the answer to a request beside the conversation. The JSON object is the one that
// Gemini CLI wants when it asks who speaks next: the user.
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
	_ = json.NewEncoder(w).Encode(v) // fails only if the client is gone
}

// An events writes server-sent events.
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

// text returns the text of a content, which is a string or a list of parts.
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
