package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/format/strictjson"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

// The methods we know.
const (
	callTool       = "tools/call"
	listTools      = "tools/list"
	listPrompts    = "prompts/list"
	getPrompt      = "prompts/get"
	listTemplates  = "resources/templates/list"
	listResources  = "resources/list"
	readResource   = "resources/read"
	complete       = "completion/complete"
	subscribe      = "resources/subscribe"
	listen         = "subscriptions/listen"
	initialize     = "initialize"
	discover       = "server/discover"
	createMessage  = "sampling/createMessage"
	elicit         = "elicitation/create"
	cancelled      = "notifications/cancelled"
	progress       = "notifications/progress"
	toolsChanged   = "notifications/tools/list_changed"
	promptsChanged = "notifications/prompts/list_changed"
)

// request forwards a request of the client, or begins to judge it.
func (r *relay) request(ctx context.Context, m *jsonrpc.Request, q *request) error {
	if as := near(m.Method); as != "" && as != m.Method {
		r.reply(ctx, &jsonrpc.Response{ID: m.ID, Error: rpcError(jsonrpc.CodeMethodNotFound, "floodmark: this method could be taken for "+as+"; write it exactly so.")})
		return nil
	}
	if !passes(m) {
		r.begin(func() {
			defer q.cancel()
			r.judge(ctx, m, q)
		})
		return nil
	}
	if m.Method == initialize {
		r.window.introduced(m.Params)
	}
	switch news, err := r.news(m); {
	case err != nil:
		r.refuse(ctx, m, err)
		return nil
	case len(news) > 0:
		r.begin(func() { r.listFrom(ctx, m, news) })
		return nil
	}
	if r.o.Shared && gives(m) {
		r.begin(func() {
			if err := r.give(ctx); err != nil {
				r.refuse(ctx, m, err)
			} else if err := r.forward(ctx, m); err != nil && !errors.Is(err, context.Canceled) {
				r.refuse(ctx, m, denied("floodmark: the server cannot be reached: "+floodmark.OneLine(err.Error(), maxNote)))
			}
		})
		return nil
	}
	err := r.forward(ctx, m)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// near returns the judged method that a lenient server could take this one for; empty if there is
// none.
func near(method string) string {
	for _, known := range []string{callTool, readResource, getPrompt, complete, subscribe} {
		if letters(method) == letters(known) {
			return known
		}
	}
	return ""
}

// passes reports whether a request tells the server nothing new: it asks for what the server has,
// with values that the server gave. All other methods are judged, unknown ones too. If the request
// for a list has any other value, it is judged nevertheless; see [relay.news].
func passes(m *jsonrpc.Request) bool {
	switch m.Method {
	case listen:
		return listensOnly(m.Params)
	case initialize, discover, "ping", "logging/setLevel", listTools, listPrompts, listTemplates, listResources,
		"resources/unsubscribe", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel":
		return true
	}
	return false
}

// listensOnly reports whether a client subscribes to changes without naming anything.
func listensOnly(params json.RawMessage) bool {
	list, err := strictjson.Members(params)
	if err != nil || strictjson.CheckDistinct(list, []string{"notifications", "_meta"}) != nil || len(strictjson.Without(strictjson.Without(list, "_meta"), "notifications")) > 0 {
		return false
	}
	kinds, err := strictjson.Members(strictjson.Value(list, "notifications"))
	return err == nil && !slices.ContainsFunc(kinds, func(k strictjson.Member) bool { return string(k.Value) != "true" && string(k.Value) != "false" })
}

// announces reports whether a notification of the client tells the server nothing but that.
func announces(method string) bool {
	switch method {
	case "notifications/initialized", "notifications/roots/list_changed", cancelled, progress:
		return true
	}
	return false
}

// letters returns the letters of a method, all in the same case, without its other characters.
func letters(method string) string {
	return strings.Map(func(c rune) rune {
		if c < 'A' || c > 'Z' {
			return -1
		}
		return c
	}, strictjson.Fold(method))
}

// told forwards a notification of the client. A call without an id is dropped, because its refusal
// could not be reported.
func (r *relay) told(ctx context.Context, m *jsonrpc.Request) error {
	if near(m.Method) != "" {
		r.o.Note("a call without an id was left out")
		return nil
	}
	if m.Method == cancelled && !r.takenBack(ctx, m.Params) {
		return nil
	}
	if !announces(m.Method) {
		r.begin(func() { r.tellJudged(ctx, m) })
		return nil
	}
	if r.o.Shared && m.Method == progress {
		r.begin(func() {
			if r.give(ctx) == nil {
				_ = r.server.Write(ctx, m) // a server that ended misses it
			}
		})
		return nil
	}
	return r.toServer(ctx, m)
}

// tellJudged forwards an unknown notification if the monitor allows it. A refusal cannot be
// reported.
func (r *relay) tellJudged(ctx context.Context, m *jsonrpc.Request) {
	c, err := r.readUnknown(m)
	if err == nil {
		err = r.decide(ctx, c)
	}
	if err != nil {
		r.o.Note("a notification to the server was left out: " + floodmark.OneLine(err.Error(), maxNote))
		return
	}
	r.lost(ctx, c, "sent")
	_ = r.server.Write(ctx, m) // a server that ended misses it
}

// takenBack ends a request that the client cancelled. It reports whether the server has to know.
func (r *relay) takenBack(ctx context.Context, params json.RawMessage) bool {
	id, ok := requestID(params)
	if !ok {
		return true // the server decides what it means
	}
	r.mu.Lock()
	q := r.asked[id]
	if q == nil || q.answer != nil {
		r.mu.Unlock()
		return q == nil
	}
	delete(r.asked, id)
	judged, c := q.judged, q.call
	r.mu.Unlock()
	q.cancel()
	r.done()
	if c != nil && !judged {
		r.begin(func() { r.lost(ctx, c, "the client took the call back") })
	}
	return !judged
}

// requestID reads which request a notification is about.
func requestID(params json.RawMessage) (jsonrpc.ID, bool) {
	list, err := strictjson.Members(params)
	if err != nil {
		return jsonrpc.ID{}, false
	}
	return mcpstdio.IDOf(strictjson.Value(list, "requestId"))
}
