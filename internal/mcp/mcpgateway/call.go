package mcpgateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// A call is a request that is judged before it reaches the server.
type call struct {
	agent string // if not empty, the catalog has the call as a tool of this agent
	call  hook.Call
}

// The names, as tools of [Agent], under which the catalog has what a gateway reads without a call
// of a server's tool.
const (
	asResource = "read_resource"
	asListed   = "read_listed_resource"
	asPrompt   = "get_prompt"
	asList     = "list_resources"
	asSampling = "sampling"
	asOther    = "read_server"
	asComplete = "complete"
	asFrom     = "list_from"
)

// judge asks the monitor about a request and forwards it, or answers with the refusal.
func (r *relay) judge(ctx context.Context, m *jsonrpc.Request, q *request) {
	c, err := r.read(ctx, m)
	if err == nil {
		err = r.decide(ctx, c)
	}
	if ctx.Err() != nil {
		return // cancelled, or the relay ends
	}
	if err != nil {
		r.refuse(ctx, m, err)
		return
	}
	r.mu.Lock()
	q.call = c
	r.mu.Unlock()
	if err := r.forward(ctx, m); err != nil {
		r.lost(ctx, c, "the call did not reach the server")
		r.refuse(ctx, m, denied("floodmark: the server cannot be reached: "+floodmark.OneLine(err.Error(), maxNote)))
	}
}

// A denied is a refusal worded for a model.
type denied string

func (d denied) Error() string { return string(d) }

// refuse answers a request that was not forwarded. A refused call of a tool gets a tool's result
// that says so, because models read these. Other requests get an error.
func (r *relay) refuse(ctx context.Context, m *jsonrpc.Request, err error) {
	line, ok := errors.AsType[denied](err)
	if !ok {
		why := "floodmark: the request was not understood, so it was not made: " + floodmark.OneLine(err.Error(), maxNote) + "."
		r.reply(ctx, &jsonrpc.Response{ID: m.ID, Error: rpcError(jsonrpc.CodeInvalidParams, why)})
		return
	}
	if m.Method != callTool {
		r.reply(ctx, &jsonrpc.Response{ID: m.ID, Error: rpcError(codeRefused, string(line))})
		return
	}
	r.reply(ctx, &jsonrpc.Response{ID: m.ID, Result: toolError(string(line))})
}

// read parses a request. It refuses one that could be read in two ways.
func (r *relay) read(ctx context.Context, m *jsonrpc.Request) (*call, error) {
	if near(m.Method) == "" {
		return r.readUnknown(m)
	}
	if !json.Valid(m.Params) || !utf8.Valid(m.Params) {
		return nil, errors.New("its parameters are not JSON")
	}
	list, err := strictjson.Members(m.Params)
	if err != nil {
		return nil, fmt.Errorf("its parameters: %w", err)
	}
	if err := strictjson.CheckDistinct(list, []string{"name", "arguments", "uri", "task", "inputResponses", "requestState", "_meta"}); err != nil {
		return nil, err
	}
	switch m.Method {
	case complete:
		return r.readComplete(ctx, list)
	case readResource, subscribe:
		uri, err := strictjson.Text(strictjson.Value(list, "uri"))
		if err != nil || uri == "" || replaced(uri) {
			return nil, errors.New("its uri is no text")
		}
		as := asResource
		if r.known.isResource(uri) && len(r.beside(list, "uri")) == 0 {
			as = asListed
		}
		return r.ours(as, strictjson.Member{Key: "uri", Value: strictjson.Quote(uri)}, list), nil
	case getPrompt:
		name, err := named(list)
		if err != nil {
			return nil, err
		}
		if why := r.known.isHeld("prompt", name); why != "" {
			return nil, r.held(ctx, why)
		}
		return r.ours(asPrompt, strictjson.Member{Key: "name", Value: strictjson.Quote(name)}, list), nil
	}
	return r.readCall(ctx, list)
}

// ours returns a request as a tool of the gateway.
func (r *relay) ours(tool string, what strictjson.Member, list []strictjson.Member) *call {
	args := append([]strictjson.Member{{Key: "server", Value: strictjson.Quote(r.o.Server)}, what}, r.beside(list, what.Key)...)
	return &call{agent: Agent, call: hook.Call{ID: newID(), Name: tool, Args: strictjson.Object(args)}}
}

// beside returns what a request tells the server besides the value of the key what. It leaves out a
// state that the server itself gave.
func (r *relay) beside(list []strictjson.Member, what string) (told []strictjson.Member) {
	for _, m := range list {
		switch {
		case strictjson.IsNull(m.Value), m.Key == what, m.Key == "_meta", m.Key == "requestState" && r.known.isState(string(m.Value)):
		case m.Key == "arguments", m.Key == "inputResponses":
			told = append(told, m)
		default:
			told = append(told, strictjson.Member{Key: "more " + m.Key, Value: m.Value})
		}
	}
	return told
}

// readComplete reads a request to complete a text. It tells the server what a person types.
func (r *relay) readComplete(ctx context.Context, list []strictjson.Member) (*call, error) {
	args := []strictjson.Member{{Key: "server", Value: strictjson.Quote(r.o.Server)}}
	for _, m := range list {
		switch m.Key {
		case "_meta":
		case "ref", "argument", "context":
			args = append(args, m)
		default:
			args = append(args, strictjson.Member{Key: "more " + m.Key, Value: m.Value})
		}
	}
	ref, err := strictjson.Members(strictjson.Value(list, "ref"))
	if err != nil {
		ref = nil // it names nothing
	}
	if err := strictjson.CheckDistinct(ref, []string{"type", "name", "uri"}); err != nil {
		return nil, fmt.Errorf("its ref: %w", err)
	}
	if name, err := strictjson.Text(strictjson.Value(ref, "name")); err == nil {
		if why := r.known.isHeld("prompt", name); why != "" {
			return nil, r.held(ctx, why)
		}
	}
	return &call{agent: Agent, call: hook.Call{ID: newID(), Name: asComplete, Args: strictjson.Object(args)}}, nil
}

// unknownMethod begins the name under which an unknown method is judged. The catalog has no tool of
// that name, so the method is judged like a tool that could do anything.
const unknownMethod = "method "

// readUnknown reads a message with an unknown method. Its parameters are judged as arguments.
func (r *relay) readUnknown(m *jsonrpc.Request) (*call, error) {
	name := unknownMethod + m.Method
	switch {
	case len(name) > MaxName || replaced(m.Method):
		return nil, fmt.Errorf("its method is no text of at most %d bytes", MaxName-len(unknownMethod))
	case len(m.Params) == 0:
		return &call{call: hook.Call{ID: newID(), Server: r.o.Server, Name: name}}, nil
	case !json.Valid(m.Params) || !utf8.Valid(m.Params):
		return nil, errors.New("its parameters are not JSON")
	}
	list, err := strictjson.Members(m.Params)
	if err != nil {
		list = []strictjson.Member{{Key: "params", Value: m.Params}}
	}
	if err := strictjson.CheckDistinct(list, []string{"_meta"}); err != nil {
		return nil, err
	}
	return &call{call: hook.Call{ID: newID(), Server: r.o.Server, Name: name, Args: strictjson.Object(strictjson.Without(list, "_meta"))}}, nil
}

func newID() floodmark.CallID { return floodmark.CallID("mcp-" + rand.Text()) }

func named(list []strictjson.Member) (string, error) {
	name, err := strictjson.Text(strictjson.Value(list, "name"))
	switch {
	case err != nil || name == "" || replaced(name):
		return "", errors.New("its name is no text")
	case len(name) > MaxName:
		return "", fmt.Errorf("its name has %d bytes, at most %d", len(name), MaxName)
	}
	return name, nil
}

// replaced reports whether a text contains the replacement character. Readers differ in how they
// treat invalid characters, so two names could become one.
func replaced(s string) bool { return strings.ContainsRune(s, utf8.RuneError) }

// readCall reads the call of a tool, and adds what the server has claimed about the tool.
func (r *relay) readCall(ctx context.Context, list []strictjson.Member) (*call, error) {
	name, err := named(list)
	if err != nil {
		return nil, err
	}
	var args []strictjson.Member
	raw := strictjson.Value(list, "arguments")
	if !strictjson.IsNull(raw) {
		if args, err = strictjson.Members(raw); err != nil {
			return nil, fmt.Errorf("its arguments: %w", err)
		}
	}
	r.known.request(strictjson.Object(list))
	if err := r.learn(ctx); err != nil {
		return nil, err
	}
	t := r.known.tool(name)
	if t.held != "" {
		return nil, r.held(ctx, t.held)
	}
	if err := strictjson.CheckDistinct(args, t.arguments); err != nil {
		return nil, fmt.Errorf("its arguments: %w", err)
	}
	// What the client answers to questions of the server goes to the server too,
	// and so does a state that the server has not given.
	extra := args
	if v := strictjson.Value(list, "inputResponses"); !strictjson.IsNull(v) {
		extra = append(slices.Clone(extra), strictjson.Member{Key: "inputResponses", Value: v})
	}
	if v := strictjson.Value(list, "requestState"); !strictjson.IsNull(v) && !r.known.isState(string(v)) {
		extra = append(slices.Clone(extra), strictjson.Member{Key: "requestState", Value: v})
	}
	if len(extra) > len(args) {
		if err := strictjson.CheckDistinct(extra, nil); err != nil {
			return nil, err
		}
		raw = strictjson.Object(extra)
	}
	if strictjson.IsNull(raw) {
		raw = nil
	}
	return &call{call: hook.Call{ID: newID(), Server: r.o.Server, Name: name, Args: raw, Hints: t.hints}}, nil
}

// decide asks the monitor. Only nil allows the call.
func (r *relay) decide(ctx context.Context, c *call) error {
	if r.known.first() {
		if err := r.tellDefinitions(ctx); err != nil {
			r.known.untold()
			return err
		}
	}
	ev := r.about(hook.Event{Point: hook.BeforeToolCall, Agent: c.agent, Call: c.call})
	if r.window.asks() {
		ev.Window = &hook.Window{Client: r.o.Session.who.Token}
	}
	reply, err := r.o.Session.decide(ctx, ev)
	if err == nil && ev.Window != nil && reply.Ask != nil && reply.Ticket != "" && !reply.Allows() {
		reply, err = r.askThere(ctx, ev, reply)
	}
	if err == nil && reply.Allows() {
		return nil
	}
	if err != nil {
		r.o.Note("a call was not judged: " + floodmark.OneLine(err.Error(), maxNote))
	}
	return denied(refusal(reply, err))
}

// lost tells the monitor that a call which may have run returned no result.
func (r *relay) lost(ctx context.Context, c *call, why string) {
	_, _ = r.after(ctx, c, hook.Result{Text: why, Error: true}, nil) // no decision depends on it: its label is known
}

// after tells the monitor the result of a call and returns its label.
func (r *relay) after(ctx context.Context, c *call, result hook.Result, more *hook.Hints) (*floodmark.Label, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), judgeTime)
	defer cancel()
	told := c.call
	told.Hints = tighter(told.Hints, more)
	reply, err := r.o.Session.tell(ctx, r.about(hook.Event{Point: hook.AfterToolCall, Agent: c.agent, Call: told, Result: result}))
	if err == nil && !reply.Allows() {
		err = errors.New(refusal(reply, nil))
	}
	if err != nil {
		r.o.Note("a result was not taken in: " + floodmark.OneLine(err.Error(), maxNote))
		return nil, err
	}
	r.o.Session.took(reply.Mark)
	return reply.Label, nil
}

// tighter returns the claims a, with trust and secrecy lowered to those of b.
func tighter(a, b *hook.Hints) *hook.Hints {
	if b == nil {
		return a
	}
	h := hook.Hints{}
	if a != nil {
		h = *a
	}
	h.Trust = lower(h.Trust, b.Trust, floodmark.ParseTrust)
	h.Secrecy = lower(h.Secrecy, b.Secrecy, floodmark.ParseSecrecy)
	return &h
}

// lower returns the lower of two claims. An empty claim says nothing, and an unknown word is the
// lowest claim.
func lower[L ~uint8](a, b string, parse func(string) (L, error)) string {
	if a == "" || b == "" {
		return a + b
	}
	first, _ := parse(a) // an unknown word is the lowest
	second, _ := parse(b)
	if second < first {
		return b
	}
	return a
}
