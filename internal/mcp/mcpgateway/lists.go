package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
	"github.com/floodmark/floodmark/internal/mcp/mcppins"
)

// maxURI bounds the address of a resource that is remembered.
const maxURI = 2048

// toolsListed takes in one page of the server's tools and returns it without those that the client
// must not be shown.
func (r *relay) toolsListed(ctx context.Context, q *request, list []strictjson.Member) json.RawMessage {
	items, ok := strictjson.Array(strictjson.Value(list, "tools"))
	if !ok {
		return strictjson.Object(strictjson.With(list, "tools", json.RawMessage("[]")))
	}
	if !paged(q.params) {
		r.known.begin(q.changes)
	}
	shown := r.pinned(ctx, items, mcppins.Tool, "name")
	if strictjson.IsNull(strictjson.Value(list, "nextCursor")) {
		r.known.all()
	}
	hidden, err := r.hidden(ctx)
	if err != nil {
		r.o.Note("no tools are shown because the monitor did not answer: " + floodmark.OneLine(err.Error(), maxNote))
		r.lookAgain(ctx)
		return strictjson.Object(strictjson.With(list, "tools", json.RawMessage("[]")))
	}
	r.known.hide(hidden)
	shown = slices.DeleteFunc(shown, func(d shownItem) bool {
		return slices.Contains(hidden, floodmark.ToolRef{Server: r.o.Server, Name: d.name}.String())
	})
	if len(shown) == len(items) {
		return strictjson.Object(list)
	}
	return strictjson.Object(strictjson.With(list, "tools", joined(shown)))
}

// paged reports whether a request continues a list.
func paged(params json.RawMessage) bool {
	list, err := strictjson.Members(params)
	return err == nil && !strictjson.IsNull(strictjson.Value(list, "cursor"))
}

// A shownItem is one definition that the client may be shown.
type shownItem struct {
	name string
	body json.RawMessage
}

func joined(items []shownItem) json.RawMessage {
	bodies := make([][]byte, len(items))
	for i, it := range items {
		bodies[i] = it.body
	}
	return append(append([]byte("["), bytes.Join(bodies, []byte(","))...), ']')
}

// pinned looks definitions up among those the owner has seen, and returns those that are not held.
func (r *relay) pinned(ctx context.Context, items []json.RawMessage, kind, key string) []shownItem {
	if len(items) > MaxTools {
		r.o.Note(fmt.Sprintf("the server lists %d definitions at once, at most %d are looked at", len(items), MaxTools))
		items = items[:MaxTools]
	}
	defs := make([]mcppins.Definition, 0, len(items))
	for _, body := range items {
		name, why := definitionName(body, key)
		if why != nil {
			r.o.Note("a definition was left out: " + floodmark.OneLine(why.Error(), maxNote))
			continue
		}
		defs = append(defs, mcppins.Definition{Server: r.o.Server, Kind: kind, Name: name, Body: body})
	}
	verdicts, err := r.o.Pins.See(ctx, r.o.Server, r.o.Identity, defs)
	if err == nil && len(verdicts) != len(defs) {
		err = fmt.Errorf("%d definitions were shown and %d judged", len(defs), len(verdicts))
	}
	var shown []shownItem
	for i, d := range defs {
		v := mcppins.Verdict{Held: true, Line: "the definitions that the owner has seen cannot be read, so everything is held."}
		if err == nil {
			v = verdicts[i]
		}
		r.note(d, v)
		if !v.Held {
			shown = append(shown, shownItem{d.Name, d.Body})
		}
	}
	if err != nil {
		r.o.Note("everything is held: " + floodmark.OneLine(err.Error(), maxNote))
	}
	return shown
}

// definitionName reads the name of a definition. It refuses a definition that could be read in two
// ways.
func definitionName(body json.RawMessage, key string) (string, error) {
	list, err := strictjson.Members(body)
	if err != nil {
		return "", err
	}
	if err := strictjson.CheckDistinct(list, []string{key, "description", "inputSchema", "outputSchema", "annotations", "title"}); err != nil {
		return "", err
	}
	name, err := strictjson.Text(strictjson.Value(list, key))
	if err != nil || name == "" || len(name) > MaxName || replaced(name) {
		return "", fmt.Errorf("its name is no text of 1 to %d bytes", MaxName)
	}
	return name, nil
}

// note remembers the verdict on a definition.
func (r *relay) note(d mcppins.Definition, v mcppins.Verdict) {
	line := ""
	if v.Held {
		line = "floodmark: " + floodmark.OneLine(v.Line, maxReason)
		r.o.Note(strconv.Quote(d.Name) + " is held: " + floodmark.OneLine(v.Line, maxNote))
	}
	r.known.show(d.Kind+" "+d.Name, string(d.Body), v.Held || v.Accepted)
	if d.Kind != mcppins.Tool {
		r.known.hold(d.Kind+" "+d.Name, line)
		return
	}
	r.known.learn(d.Name, tool{hints: annotations(d.Body), arguments: properties(d.Body), held: line})
}

// annotations returns the server's claims about a tool.
func annotations(body json.RawMessage) *hook.Hints {
	list, err := strictjson.Members(body)
	if err != nil {
		return nil
	}
	claims, err := strictjson.Members(strictjson.Value(list, "annotations"))
	if err != nil {
		return nil
	}
	is := func(key string) *bool {
		switch string(strictjson.Value(claims, key)) {
		case "true":
			return new(true)
		case "false":
			return new(false)
		}
		return nil
	}
	h := hook.Hints{ReadOnly: is("readOnlyHint"), Destructive: is("destructiveHint"), OpenWorld: is("openWorldHint")}
	if h == (hook.Hints{}) {
		return nil
	}
	return &h
}

// properties returns the arguments that a tool's schema declares.
func properties(body json.RawMessage) []string {
	list, err := strictjson.Members(body)
	if err != nil {
		return nil
	}
	schema, err := strictjson.Members(strictjson.Value(list, "inputSchema"))
	if err != nil {
		return nil
	}
	props, err := strictjson.Members(strictjson.Value(schema, "properties"))
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range props {
		names = append(names, p.Key)
	}
	return names
}

// hidden tells the monitor which definitions the client is shown and returns the tools that it must
// not be offered.
func (r *relay) hidden(ctx context.Context) ([]string, error) {
	if err := r.tellDefinitions(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), judgeTime)
	defer cancel()
	reply, err := r.o.Session.tell(ctx, hook.Event{Point: hook.ContextAssembled, Tools: r.known.offered(r.o.Server)})
	if err != nil {
		return nil, err
	}
	if !reply.Allows() {
		return nil, denied(refusal(reply, nil))
	}
	return reply.Decision.Hidden, nil
}

// lookAgain tells the client to list the tools again once the monitor answers.
func (r *relay) lookAgain(ctx context.Context) {
	r.mu.Lock()
	looking := r.looking
	r.looking = true
	r.mu.Unlock()
	if looking {
		return
	}
	r.begin(func() {
		tick := time.NewTicker(r.o.retry)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-r.gone:
				return
			}
			if _, err := r.hiddenNow(ctx); err != nil {
				continue
			}
			r.mu.Lock()
			r.looking = false
			r.mu.Unlock()
			if err := r.client.Write(ctx, &jsonrpc.Request{Method: toolsChanged}); err != nil {
				r.o.Note("the client was not told that tools changed: " + floodmark.OneLine(err.Error(), maxNote))
			}
			return
		}
	})
}

// relist checks whether the hidden tools have changed, and tells the client if so.
func (r *relay) relist(ctx context.Context) {
	r.mu.Lock()
	again := r.relisting
	r.relisting = true
	r.relistAgain = again
	r.mu.Unlock()
	if again || !r.known.isListed() {
		if !again {
			r.relisted()
		}
		return
	}
	r.begin(func() {
		for {
			if hidden, err := r.hiddenNow(ctx); err == nil && r.known.hide(hidden) {
				if err := r.client.Write(ctx, &jsonrpc.Request{Method: toolsChanged}); err != nil {
					r.o.Note("the client was not told that tools changed: " + floodmark.OneLine(err.Error(), maxNote))
				}
			}
			if !r.relisted() {
				return
			}
		}
	})
}

// relisted ends one check and reports whether another is due.
func (r *relay) relisted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.relistAgain {
		r.relistAgain = false
		return true
	}
	r.relisting = false
	return false
}

// hiddenNow asks which of the known tools are hidden.
func (r *relay) hiddenNow(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	reply, err := r.o.Session.tell(ctx, hook.Event{Point: hook.ContextAssembled, Tools: r.known.offered(r.o.Server)})
	if err != nil || !reply.Allows() {
		return nil, denied(refusal(reply, err))
	}
	return reply.Decision.Hidden, nil
}

// definitionsListed does for prompts and templates what toolsListed does for tools.
func (r *relay) definitionsListed(ctx context.Context, list []strictjson.Member, key, kind, name string) json.RawMessage {
	items, ok := strictjson.Array(strictjson.Value(list, key))
	if !ok {
		return strictjson.Object(strictjson.With(list, key, json.RawMessage("[]")))
	}
	shown := r.pinned(ctx, items, kind, name)
	if err := r.tellDefinitions(ctx); err != nil {
		shown = nil
	}
	if len(shown) == len(items) {
		return strictjson.Object(list)
	}
	return strictjson.Object(strictjson.With(list, key, joined(shown)))
}

// resourcesListed notes which of the server's resources the client was shown.
func (r *relay) resourcesListed(list []strictjson.Member) {
	items, _ := strictjson.Array(strictjson.Value(list, "resources"))
	for _, body := range items {
		of, err := strictjson.Members(body)
		if err != nil || strictjson.CheckDistinct(of, []string{"uri"}) != nil {
			continue
		}
		if uri, err := strictjson.Text(strictjson.Value(of, "uri")); err == nil && uri != "" && len(uri) <= maxURI && !replaced(uri) {
			r.known.resource(uri)
		}
	}
}

// introduced takes in what a server says of itself. It removes instructions that are held, or that
// the monitor has not taken in.
func (r *relay) introduced(ctx context.Context, list []strictjson.Member) json.RawMessage {
	raw := strictjson.Value(list, "instructions")
	if strictjson.IsNull(raw) {
		return strictjson.Object(list)
	}
	def := mcppins.Definition{Server: r.o.Server, Kind: mcppins.Instructions, Name: mcppins.Instructions, Body: raw}
	verdicts, err := r.o.Pins.See(ctx, r.o.Server, r.o.Identity, []mcppins.Definition{def})
	if err != nil || len(verdicts) != 1 || verdicts[0].Held {
		r.o.Note("the server's instructions are held: see «floodmark mcp review»")
		return strictjson.Object(strictjson.Without(list, "instructions"))
	}
	r.note(def, verdicts[0])
	if err := r.tellDefinitions(ctx); err != nil {
		return strictjson.Object(strictjson.Without(list, "instructions"))
	}
	return strictjson.Object(list)
}

// The limits on asking the server for its tools ourselves.
const (
	learnTime  = 20 * time.Second
	learnPages = 64
)

// learn lists the server's tools unless they are known. The definition of a tool is needed to judge
// a call of the tool.
func (r *relay) learn(ctx context.Context) error {
	if r.known.isListed() {
		return nil
	}
	r.learning.Lock()
	defer r.learning.Unlock()
	ctx, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	var cursor json.RawMessage
	for range learnPages {
		if r.known.isListed() {
			return nil
		}
		m, changes, err := r.askServer(ctx, listTools, cursor)
		if err != nil {
			return denied("floodmark: the server did not say which tools it has, so none is called: " + floodmark.OneLine(err.Error(), maxNote))
		}
		list, err := strictjson.Members(m.Result)
		if m.Error != nil || err != nil || strictjson.CheckDistinct(list, []string{"tools", "nextCursor"}) != nil {
			break // it has no list: its tools are judged by their names
		}
		items, _ := strictjson.Array(strictjson.Value(list, "tools"))
		if len(cursor) == 0 {
			r.known.begin(changes)
		}
		r.pinned(ctx, items, mcppins.Tool, "name")
		if cursor = strictjson.Value(list, "nextCursor"); strictjson.IsNull(cursor) {
			break
		}
	}
	r.known.all()
	return nil
}

// askServer sends the server a request of our own.
func (r *relay) askServer(ctx context.Context, method string, cursor json.RawMessage) (m *jsonrpc.Response, changes int, err error) {
	params := []strictjson.Member{}
	if r.known.perRequest() != nil {
		params = append(params, strictjson.Member{Key: "_meta", Value: r.known.perRequest()})
	}
	if len(cursor) > 0 {
		params = append(params, strictjson.Member{Key: "cursor", Value: cursor})
	}
	q := &request{method: method, answer: make(chan *jsonrpc.Response, 1)}
	r.mu.Lock()
	r.own++
	id, err := jsonrpc.MakeID("floodmark-" + strconv.Itoa(r.own))
	r.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	if why := r.open(r.asked, id, q); why != "" {
		return nil, 0, denied(why)
	}
	defer r.take(r.asked, id)
	if err := r.server.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: strictjson.Object(params)}); err != nil {
		return nil, 0, err
	}
	select {
	case m, ok := <-q.answer:
		if !ok {
			return nil, 0, errServer
		}
		return m, q.changes, nil
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}
