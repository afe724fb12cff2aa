package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
)

// result takes in an answer of the server, then gives it to the client.
func (r *relay) result(ctx context.Context, q *request, m *jsonrpc.Response) error {
	out := &jsonrpc.Response{ID: m.ID, Result: m.Result, Error: m.Error}
	if out.Error != nil {
		out.Result = nil // a client may read either
	}
	if q.call == nil && harmless(q.method, out) {
		r.deliver(ctx, out)
		return nil
	}
	before := r.announcedSoFar()
	r.begin(func() {
		err := r.arrive(ctx, q, out)
		if before != nil {
			<-before // an announcement about a request comes before its answer
		}
		if err != nil {
			line := "floodmark: the answer was not taken in, so it is kept back. Ask the owner to run «floodmark status»."
			if why, ok := errors.AsType[denied](err); ok {
				line = string(why)
			}
			out = &jsonrpc.Response{ID: m.ID, Error: rpcError(codeRefused, line)}
			if q.method == callTool {
				out.Error, out.Result = nil, toolError(line)
			}
		}
		r.deliver(ctx, out)
	})
	return nil
}

// harmless reports whether an answer brings no text of the server.
func harmless(method string, m *jsonrpc.Response) bool {
	if m.Error != nil {
		return false
	}
	switch method {
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		words, _ := readable(m.Result)
		return words == ""
	}
	return false
}

// arrive takes in one answer. It may change what the client gets.
func (r *relay) arrive(ctx context.Context, q *request, m *jsonrpc.Response) error {
	if m.Error != nil {
		return r.failed(ctx, q, m)
	}
	if q.call != nil {
		return r.gave(ctx, q, m)
	}
	list, err := strictjson.Members(m.Result)
	if forged(list) {
		list = labelled(list, nil)
		m.Result = strictjson.Object(list)
	}
	if err == nil {
		err = strictjson.CheckDistinct(list, []string{"tools", "prompts", "resourceTemplates", "resources", "instructions", "nextCursor", "inputRequests", "_meta"})
	}
	if err != nil {
		return r.quoting(ctx, m.Result, denied("floodmark: the server's answer was not understood: "+floodmark.OneLine(err.Error(), maxNote)+"."))
	}
	if !strictjson.IsNull(strictjson.Value(list, "inputRequests")) { // a task that continues after a person's answer
		if list, err = r.wantsMore(list); err != nil {
			return r.quoting(ctx, m.Result, err)
		}
		m.Result = strictjson.Object(list)
	}
	if lists(q.method) {
		r.known.cursor(strictjson.Value(list, "nextCursor"))
	}
	switch q.method {
	case listTools:
		m.Result = r.toolsListed(ctx, q, list)
		return nil
	case listPrompts:
		m.Result = r.definitionsListed(ctx, list, "prompts", mcppins.Prompt, "name")
		return nil
	case listTemplates:
		m.Result = r.definitionsListed(ctx, list, "resourceTemplates", mcppins.ResourceTemplate, "uriTemplate")
		return nil
	case initialize, discover:
		m.Result = r.introduced(ctx, list)
		return nil
	case listResources:
		err := r.takeIn(ctx, content(asList, m.Result))
		if err == nil {
			r.resourcesListed(list)
		}
		return err
	}
	if strings.HasPrefix(q.method, "tasks/") {
		if c := r.ofTask(q.params); c != nil {
			return r.took(ctx, c, m, list)
		}
	}
	return r.takeIn(ctx, content(asOther, m.Result))
}

// failed takes in an error of the server: its text is content like any other.
func (r *relay) failed(ctx context.Context, q *request, m *jsonrpc.Response) error {
	if err := r.wantsFirst(m); err != nil {
		if q.call == nil {
			return r.quoting(ctx, errorText(m), err)
		}
		r.lost(ctx, q.call, "the server's question was not shown")
		return err
	}
	if q.call != nil {
		result, _ := resultOf(m)
		_, err := r.after(ctx, q.call, result, nil)
		return err
	}
	return r.takeIn(ctx, content(asOther, errorText(m)))
}

func errorText(m *jsonrpc.Response) json.RawMessage {
	wire, ok := errors.AsType[*jsonrpc.Error](m.Error)
	if !ok {
		return strictjson.Quote(m.Error.Error())
	}
	list := []strictjson.Member{{Key: "message", Value: strictjson.Quote(wire.Message)}}
	if len(wire.Data) > 0 {
		list = append(list, strictjson.Member{Key: "data", Value: wire.Data})
	}
	return strictjson.Object(list)
}

// resultOf returns an answer in the form the monitor takes in, and whether its text is complete.
func resultOf(m *jsonrpc.Response) (result hook.Result, whole bool) {
	raw := m.Result
	if m.Error != nil {
		raw = errorText(m)
	}
	words, whole := readable(raw)
	failed := m.Error != nil
	if list, err := strictjson.Members(raw); err == nil && string(strictjson.Value(list, "isError")) == "true" {
		failed = true
	}
	return hook.Result{Text: words, Error: failed}, whole
}

// gave takes in the result of a call that was judged.
func (r *relay) gave(ctx context.Context, q *request, m *jsonrpc.Response) error {
	list, err := strictjson.Members(m.Result)
	if err == nil {
		err = strictjson.CheckDistinct(list, []string{"content", "structuredContent", "isError", "_meta", "contents", "messages", "task", "resultType", "requestState", "inputRequests"})
	}
	if err != nil {
		r.lost(ctx, q.call, "the server's answer was not understood")
		return denied("floodmark: the server's answer was not understood: " + floodmark.OneLine(err.Error(), maxNote) + ".")
	}
	if list, err = r.wantsMore(list); err != nil {
		r.lost(ctx, q.call, "the server's question was not shown")
		return err
	}
	if v := strictjson.Value(list, "requestState"); !strictjson.IsNull(v) {
		r.known.state(string(v))
	}
	if id := taskOf(strictjson.Value(list, "task")); id != "" {
		r.known.task(id, q.call)
	}
	return r.took(ctx, q.call, m, list)
}

// took takes in the result of a call, and writes its label into it.
func (r *relay) took(ctx context.Context, c *call, m *jsonrpc.Response, list []strictjson.Member) error {
	more := ifc(m.Result)
	result, whole := resultOf(m)
	if !whole {
		more = &hook.Hints{Trust: floodmark.Untrusted.String(), Secrecy: floodmark.Secret.String()}
	}
	label, err := r.after(ctx, c, result, more)
	if err != nil {
		return err
	}
	m.Result = strictjson.Object(labelled(list, label))
	return nil
}

// taskOf reads the name of a task that a server began instead of answering.
func taskOf(v json.RawMessage) string {
	list, err := strictjson.Members(v)
	if err != nil {
		return ""
	}
	id, _ := strictjson.Text(strictjson.Value(list, "taskId"))
	return id
}

// ofTask returns the call whose result a request is about.
func (r *relay) ofTask(params json.RawMessage) *call {
	list, err := strictjson.Members(params)
	if err != nil {
		return nil
	}
	id, err := strictjson.Text(strictjson.Value(list, "taskId"))
	if err != nil {
		return nil
	}
	return r.known.ofTask(id)
}

// announced forwards the server's notifications.
func (r *relay) announced(ctx context.Context, m *jsonrpc.Request) error {
	switch m.Method {
	case toolsChanged:
		r.known.changed()
	case cancelled:
		if id, ok := requestID(m.Params); ok {
			r.withdraw(id)
		}
	}
	if words, _ := readable(m.Params); words == "" || unread(m.Method) && !(r.o.Shared && tells(m)) {
		return r.client.Write(ctx, m)
	}
	// Some clients show a server's announcements to their model.
	before, said := r.announcing()
	if !r.begin(func() {
		defer close(said)
		err := r.takeIn(ctx, content(asOther, m.Params))
		if before != nil {
			<-before
		}
		if err == nil {
			err = r.client.Write(ctx, m)
		}
		if err != nil {
			r.o.Note("a notification was left out: " + floodmark.OneLine(err.Error(), maxNote))
		}
	}) {
		close(said)
	}
	return nil
}

// unread reports whether no model reads a notification, because clients only use it themselves or
// show it to people.
func unread(method string) bool {
	switch method {
	case cancelled, toolsChanged, promptsChanged, "notifications/resources/list_changed", "notifications/resources/updated",
		"notifications/roots/list_changed", "notifications/progress", "notifications/message", "notifications/elicitation/complete":
		return true
	}
	return false
}

// withdraw drops a question that the server has cancelled. A question whose answer would have to be
// judged stays: the client may still answer it, and no other question may have the same id then.
func (r *relay) withdraw(id jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q := r.wanted[id]; q != nil && q.method == createMessage {
		q.withdrawn = true
		return
	}
	delete(r.wanted, id)
}

// wants forwards a request of the server to the client. Text that a model would read is taken in
// first.
func (r *relay) wants(ctx context.Context, m *jsonrpc.Request, q *request) error {
	if m.Method == "ping" || m.Method == "roots/list" {
		return r.client.Write(ctx, m)
	}
	r.begin(func() {
		out := &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: m.Params}
		var err error
		switch {
		case !json.Valid(m.Params):
		case m.Method == elicit:
			if out.Params, err = r.asksPerson(m.Params); err == nil {
				err = r.takeIn(ctx, content(asOther, m.Params))
			}
		default:
			err = r.takeIn(ctx, content(asSampling, m.Params))
		}
		if err == nil {
			err = r.client.Write(ctx, out)
		}
		if err != nil && r.take(r.wanted, m.ID) == q {
			why := rpcError(codeRefused, "floodmark: the request was not taken in, so it is kept back.")
			if line, ok := errors.AsType[denied](err); ok {
				why.Message = string(line)
			}
			if err := r.server.Write(ctx, &jsonrpc.Response{ID: m.ID, Error: why}); err != nil {
				r.o.Note("a refusal did not reach the server: " + floodmark.OneLine(err.Error(), maxNote))
			}
		}
	})
	return nil
}

// answered gives the server the client's response to its request.
func (r *relay) answered(ctx context.Context, q *request, m *jsonrpc.Response) error {
	out := &jsonrpc.Response{ID: m.ID, Result: m.Result, Error: m.Error}
	if q.method == elicit {
		r.begin(func() { r.filledIn(ctx, m) })
		return nil
	}
	if q.method != createMessage || m.Error != nil || !includesContext(q.params) {
		if !r.o.Shared {
			return r.toServer(ctx, out)
		}
		r.begin(func() {
			if err := r.give(ctx); err != nil {
				out = &jsonrpc.Response{ID: m.ID, Error: rpcError(codeRefused, err.Error())}
			}
			if err := r.server.Write(ctx, out); err != nil {
				r.o.Note("an answer did not reach the server: " + floodmark.OneLine(err.Error(), maxNote))
			}
		})
		return nil
	}
	r.begin(func() {
		args := strictjson.Object([]strictjson.Member{{Key: "server", Value: strictjson.Quote(r.o.Server)}, {Key: "text", Value: m.Result}})
		c := &call{agent: Agent, call: hook.Call{ID: newID(), Name: "answer_sampling", Args: args}}
		if err := r.decide(ctx, c); err != nil {
			out.Result, out.Error = nil, rpcError(codeRefused, err.Error())
		} else {
			r.lost(ctx, c, "sent")
		}
		if err := r.server.Write(ctx, out); err != nil {
			r.o.Note("an answer did not reach the server: " + floodmark.OneLine(err.Error(), maxNote))
		}
	})
	return nil
}

// filledIn gives the server a person's answer, after recording that there was one, and of which
// kind. The typed text is not told to the monitor.
func (r *relay) filledIn(ctx context.Context, m *jsonrpc.Response) {
	action := "error"
	if list, err := strictjson.Members(m.Result); err == nil && m.Error == nil {
		if action, _ = strictjson.Text(strictjson.Value(list, "action")); action != "accept" && action != "decline" && action != "cancel" {
			action = "other"
		}
	}
	out := &jsonrpc.Response{ID: m.ID, Result: m.Result, Error: m.Error}
	args := strictjson.Object([]strictjson.Member{{Key: "server", Value: strictjson.Quote(r.o.Server)}, {Key: "action", Value: strictjson.Quote(action)}})
	err := r.decide(ctx, &call{agent: Agent, call: hook.Call{ID: newID(), Name: "answer_form", Args: args}})
	if err == nil && r.o.Shared {
		err = r.give(ctx) // the record gives the server nothing, the answer does
	}
	if err != nil {
		out.Result, out.Error = nil, rpcError(codeRefused, err.Error())
	}
	if err := r.server.Write(ctx, out); err != nil {
		r.o.Note("an answer did not reach the server: " + floodmark.OneLine(err.Error(), maxNote))
	}
}

// includesContext reports whether a model that answers the server reads more than the server's own
// text.
func includesContext(params json.RawMessage) bool {
	list, err := strictjson.Members(params)
	if err != nil {
		return true
	}
	if strictjson.CheckDistinct(list, []string{"includeContext"}) != nil {
		return true
	}
	v := strictjson.Value(list, "includeContext")
	return !strictjson.IsNull(v) && string(v) != `"none"`
}
