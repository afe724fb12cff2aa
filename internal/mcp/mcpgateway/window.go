package mcpgateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// A window has the questions of ours that are open in the client's dialog with a person. The server
// sees neither the questions nor the answers. It is safe for concurrent use.
type window struct {
	mu   sync.Mutex // guards what is below
	can  bool
	open map[jsonrpc.ID]chan *jsonrpc.Response
}

// introduced reads the client's capabilities. Only clear declarations count.
func (w *window) introduced(params json.RawMessage) {
	can := canShowForms(params)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.can = can
}

// canShowForms reports whether a client declared that it shows forms; a declaration without a mode
// means forms.
func canShowForms(params json.RawMessage) bool {
	in := params
	for _, key := range []string{"capabilities", "elicitation"} {
		list, err := strictjson.Members(in)
		if err != nil || strictjson.CheckDistinct(list, []string{key}) != nil {
			return false
		}
		in = strictjson.Value(list, key)
	}
	list, err := strictjson.Members(in)
	if err != nil || strictjson.CheckDistinct(list, []string{"form", "url"}) != nil {
		return false
	}
	_, err = strictjson.Members(strictjson.Value(list, "form"))
	return len(list) == 0 || err == nil
}

// asks reports whether the client can ask a person.
func (w *window) asks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.can
}

// begin makes an unguessable name for a question.
func (w *window) begin() (jsonrpc.ID, <-chan *jsonrpc.Response, bool) {
	id, err := jsonrpc.MakeID("floodmark-" + rand.Text())
	if err != nil {
		return id, nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= MaxOpen {
		return id, nil, false
	}
	if w.open == nil {
		w.open = map[jsonrpc.ID]chan *jsonrpc.Response{}
	}
	answer := make(chan *jsonrpc.Response, 1)
	w.open[id] = answer
	return id, answer, true
}

// end drops a question, and reports whether it was unanswered.
func (w *window) end(id jsonrpc.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, open := w.open[id]
	delete(w.open, id)
	return open
}

// has reports whether a question of ours is open under an id.
func (w *window) has(id jsonrpc.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, open := w.open[id]
	return open
}

// answered accepts a response to a question of ours, once. It returns false for any other response.
func (w *window) answered(m *jsonrpc.Response) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer, ok := w.open[m.ID]
	if ok {
		delete(w.open, m.ID)
		answer <- m
	}
	return ok
}

// A ruling is an answer of the monitor.
type ruling struct {
	reply hook.Reply
	err   error
}

// askThere shows the question about a call in the client's window. It waits for a person's answer
// there or elsewhere, and returns the monitor's reply to it. Without one it returns asked, which
// does not allow the call.
func (r *relay) askThere(ctx context.Context, ev hook.Event, asked hook.Reply) (hook.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.open)
	defer cancel()
	id, answer, ok := r.window.begin()
	if !ok {
		return asked, nil
	}
	defer func() {
		if r.window.end(id) {
			r.withdrawThere(ctx, id)
		}
	}()
	if err := r.client.Write(ctx, &jsonrpc.Request{ID: id, Method: elicit, Params: form(*asked.Ask)}); err != nil {
		return asked, nil // the question stays open elsewhere
	}
	shown := *ev.Window
	shown.Ticket = asked.Ticket
	ev.Window = &shown
	elsewhere := make(chan ruling, 1)
	waiting, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	over := func() { stop(); work.Wait() }
	defer over()
	work.Go(func() {
		reply, err := r.o.Session.within(waiting, r.o.open, ev)
		elsewhere <- ruling{reply, err}
	})
	select {
	case m := <-answer:
		if ctx.Err() != nil {
			return asked, nil // the call was cancelled
		}
		said, picked := readForm(m, *asked.Ask)
		if said == "" {
			return asked, nil // no clear answer: the question stays open elsewhere
		}
		over() // the wait is over
		given := shown
		given.Answer, given.Picked = said, picked
		ev.Window = &given
		return r.o.Session.within(context.WithoutCancel(ctx), judgeTime, ev)
	case got := <-elsewhere:
		if got.err != nil {
			return asked, nil
		}
		return got.reply, nil
	case <-ctx.Done():
		return asked, nil
	}
}

// withdrawThere tells the client that a question is over.
func (r *relay) withdrawThere(ctx context.Context, id jsonrpc.ID) {
	name, ok := id.Raw().(string)
	if !ok {
		return // our own ids are words
	}
	params := strictjson.Object([]strictjson.Member{{Key: "requestId", Value: strictjson.Quote(name)}, {Key: "reason", Value: strictjson.Quote("floodmark: the question is over")}})
	if err := r.client.Write(context.WithoutCancel(ctx), &jsonrpc.Request{Method: cancelled, Params: params}); err != nil {
		r.o.Note("the client was not told that a question is over: " + floodmark.OneLine(err.Error(), maxNote))
	}
}

// The names and values of a form. A client that fills in the first value denies.
const (
	fieldAnswer, fieldPlace = "answer", "place"
	sayNo, sayYes           = "no", "yes"
)

// maxTyped bounds the text accepted from a form.
const maxTyped = hook.MaxPicked

// form returns a question as the client shows it: a choice whose first value is no, or a text to
// type.
func form(a hook.Ask) json.RawMessage {
	field, about := fieldAnswer, []strictjson.Member{
		{Key: "type", Value: strictjson.Quote("string")},
		{Key: "title", Value: strictjson.Quote("Allow this one call, once?")},
		{Key: "enum", Value: texts([]string{sayNo, sayYes})},
	}
	if a.Pick != "" {
		field, about = fieldPlace, []strictjson.Member{
			{Key: "type", Value: strictjson.Quote("string")},
			{Key: "title", Value: strictjson.Quote("To allow this one call, once: " + seen(a.Pick))},
		}
	}
	if len(a.Among) > 0 {
		about = append(about, strictjson.Member{Key: "enum", Value: texts(append([]string{sayNo}, seenAll(a.Among)...))})
	}
	schema := strictjson.Object([]strictjson.Member{
		{Key: "type", Value: strictjson.Quote("object")},
		{Key: "properties", Value: strictjson.Object([]strictjson.Member{{Key: field, Value: strictjson.Object(about)}})},
		{Key: "required", Value: texts([]string{field})},
	})
	return strictjson.Object([]strictjson.Member{
		{Key: "message", Value: strictjson.Quote("Floodmark asks before this call is made.\n" + seen(a.Text))},
		{Key: "requestedSchema", Value: schema},
	})
}

// readForm reads what a person answered. If that is not clearly a yes or a no to this form, it
// returns nothing.
func readForm(m *jsonrpc.Response, a hook.Ask) (said, picked string) {
	if m.Error != nil || !json.Valid(m.Result) {
		return "", ""
	}
	list, err := strictjson.Members(m.Result)
	if err != nil || strictjson.CheckDistinct(list, []string{"action", "content", "_meta"}) != nil {
		return "", ""
	}
	switch action, _ := strictjson.Text(strictjson.Value(list, "action")); action {
	case "decline":
		return hook.Decline, ""
	case "accept":
	default:
		return "", ""
	}
	field := fieldAnswer
	if a.Pick != "" {
		field = fieldPlace
	}
	content, err := strictjson.Members(strictjson.Value(list, "content"))
	if err != nil || len(content) != 1 || content[0].Key != field {
		return "", ""
	}
	typed, err := strictjson.Text(content[0].Value)
	switch {
	case err != nil || len(typed) > maxTyped:
		return "", ""
	case (a.Pick == "" || len(a.Among) > 0) && typed == sayNo:
		return hook.Decline, ""
	case a.Pick == "" && typed == sayYes:
		return hook.Accept, ""
	case a.Pick == "":
		return "", ""
	case len(a.Among) > 0:
		at := slices.Index(seenAll(a.Among), typed)
		if at < 0 {
			return "", ""
		}
		return hook.Accept, a.Among[at]
	case strings.TrimSpace(typed) == "":
		return "", ""
	}
	return hook.Accept, typed
}

func texts(list []string) json.RawMessage {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = string(strictjson.Quote(s))
	}
	return json.RawMessage("[" + strings.Join(parts, ",") + "]")
}

// maxIndent is how many spaces a line may begin with.
const maxIndent = 4

// seen returns text with invisible characters made visible, line by line.
func seen(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		rest := strings.TrimLeft(l, " ") // a continuation is indented further
		lines[i] = l[:min(len(l)-len(rest), maxIndent)] + floodmark.Visible(rest)
	}
	return strings.Join(lines, "\n")
}

func seenAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = seen(s)
	}
	return out
}
