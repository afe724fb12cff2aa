package mcpshare

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// called handles a call of a client. The callers of everything in this file hold the lock of the
// Hub.
func (p *port) called(req *jsonrpc.Request) {
	_, twice := p.calls[req.ID]
	switch {
	case twice:
		p.refuse(req, "the id is used by a call that is still open")
	case len(p.calls) >= MaxOpen:
		p.refuse(req, "too many calls are open; wait for one")
	case req.Method == "initialize":
		p.introduced(req)
	case req.Method == "ping":
		p.tell(empty(req.ID))
	case req.Method == "logging/setLevel":
		p.setLevel(req)
	case req.Method == "resources/subscribe":
		p.subscribe(req)
	case req.Method == "resources/unsubscribe":
		p.unsubscribe(req)
	case strings.HasPrefix(req.Method, "tasks/") && req.Method != "tasks/list":
		p.onTask(req)
	case lists(req.Method):
		p.list(req)
	default:
		p.forward(req, &sent{})
	}
}

func (p *port) refuse(req *jsonrpc.Request, why string) {
	p.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidRequest, "floodmark: server "+p.l.h.opts.Name+": "+why))
}

// lists reports whether a method only lists what there is.
func lists(method string) bool {
	return slices.Contains([]string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}, method)
}

// introduced answers initialize with the server's answer to us, in the client's version of the
// protocol if that is older than the server's.
func (p *port) introduced(req *jsonrpc.Request) {
	said, err := mcpjson.Fields(req.Params)
	if err != nil {
		p.refuse(req, "params: "+err.Error())
		return
	}
	p.caps, _ = mcpjson.Fields(said["capabilities"])
	hello := map[string]json.RawMessage{}
	maps.Copy(hello, p.l.hello)
	if asked := text(said["protocolVersion"]); asked != "" && asked < text(hello["protocolVersion"]) {
		hello["protocolVersion"] = mcpjson.Encode(asked)
	}
	p.tell(&jsonrpc.Response{ID: req.ID, Result: mcpjson.Encode(hello)})
}

// list asks for a page, with nothing else of the client's request.
func (p *port) list(req *jsonrpc.Request) {
	said, err := mcpjson.Fields(req.Params)
	if err != nil {
		p.refuse(req, "params: "+err.Error())
		return
	}
	params := map[string]json.RawMessage{}
	if said["cursor"] != nil {
		params["cursor"] = said["cursor"]
	}
	p.forward(&jsonrpc.Request{ID: req.ID, Method: req.Method, Params: mcpjson.Encode(params)}, &sent{})
}

// forward sends the server a client's call under an id of ours and with a progress token of ours.
func (p *port) forward(req *jsonrpc.Request, s *sent) {
	token := "floodmark-" + strconv.FormatInt(p.l.last+1, 10)
	params, original, err := withToken(req.Params, mcpjson.Encode(token))
	if err != nil {
		p.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidParams, "floodmark: "+err.Error()))
		return
	}
	s.port, s.id = p, req.ID
	if original != nil {
		s.key, s.token = "s"+token, original
	}
	id, err := p.l.ask(req.Method, params, s)
	if err != nil {
		p.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInternalError, "floodmark: "+err.Error()))
		return
	}
	p.calls[req.ID] = id
}

// takeBack cancels a call of this client at the server.
func (p *port) takeBack(id jsonrpc.ID) {
	ours, open := p.calls[id]
	if !open {
		return
	}
	delete(p.calls, id)
	p.l.done(ours)
	p.l.haunts(p)
	// The client's reason is not sent: the server could repeat it to another client.
	_ = p.l.send(&jsonrpc.Request{Method: "notifications/cancelled", Params: mcpjson.Encode(map[string]any{"requestId": ours.Raw()})}) // lost if the server does not read
}

// noted handles a notification of a client. Only notifications about the client's own calls are
// forwarded; any other is dropped, because the server works for all clients.
func (p *port) noted(req *jsonrpc.Request) {
	said, err := mcpjson.Fields(req.Params)
	if err != nil {
		return
	}
	switch req.Method {
	case "notifications/cancelled":
		if id, ok := mcpjson.ID(said["requestId"]); ok {
			p.takeBack(id)
		}
	case "notifications/progress":
		for _, q := range p.l.asked {
			if key := mcpjson.TokenKey(said["progressToken"]); q.port == p && q.token != "" && q.token == key {
				said["progressToken"] = q.original
				_ = p.l.send(&jsonrpc.Request{Method: req.Method, Params: mcpjson.Encode(said)}) // lost if the server does not read
				return
			}
		}
	}
}

// answers forwards the client's answer to a question it was asked.
func (p *port) answers(answer *jsonrpc.Response) {
	q := p.l.asked[answer.ID]
	if q == nil || q.port != p {
		return
	}
	delete(p.l.asked, answer.ID)
	_ = p.l.send(&jsonrpc.Response{ID: q.id, Result: answer.Result, Error: answer.Error}) // lost if the server does not read
}

// subscribe subscribes a client to a resource.
func (p *port) subscribe(req *jsonrpc.Request) {
	said, _ := mcpjson.Fields(req.Params)
	place := text(said["uri"])
	switch {
	case place == "":
		p.refuse(req, "uri: want a text")
	case p.subs >= MaxHeld:
		p.refuse(req, "too many subscriptions; end one")
	default:
		if p.l.heard[place] == nil {
			p.l.heard[place] = map[*port]bool{}
		}
		if !p.l.heard[place][p] {
			p.l.heard[place][p] = true
			p.subs++
		}
		p.forward(&jsonrpc.Request{ID: req.ID, Method: req.Method, Params: mcpjson.Encode(map[string]string{"uri": place})}, &sent{place: place})
	}
}

// unsubscribe ends a client's subscription. If no other client has it, the server is told, too.
func (p *port) unsubscribe(req *jsonrpc.Request) {
	said, _ := mcpjson.Fields(req.Params)
	p.unhear(text(said["uri"]))
	p.tell(empty(req.ID))
}

func (p *port) unhear(place string) {
	who := p.l.heard[place]
	if !who[p] {
		return
	}
	p.subs--
	if delete(who, p); len(who) > 0 {
		return
	}
	delete(p.l.heard, place)
	_, _ = p.l.ask("resources/unsubscribe", mcpjson.Encode(map[string]string{"uri": place}), &sent{answered: func(*jsonrpc.Response) {}}) // its answer is dropped
}

// onTask forwards a call about a task if the task is this client's.
func (p *port) onTask(req *jsonrpc.Request) {
	said, _ := mcpjson.Fields(req.Params)
	t := p.l.tasks[text(said["taskId"])]
	if t == nil || t.port != p || one(said, "taskId") != nil {
		p.tell(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidParams, "floodmark: there is no such task"))
		return
	}
	if req.Method != "tasks/get" && t.open {
		t.open = false
		p.tasks--
	}
	p.forward(&jsonrpc.Request{ID: req.ID, Method: req.Method, Params: mcpjson.Encode(said)}, &sent{})
}

// levels returns the logging levels, the most verbose first.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// setLevel records the log level of a client. The server gets the most verbose level of all
// clients.
func (p *port) setLevel(req *jsonrpc.Request) {
	said, _ := mcpjson.Fields(req.Params)
	level := text(said["level"])
	if !slices.Contains(levels(), level) {
		p.refuse(req, "level: want one of "+strings.Join(levels(), ", "))
		return
	}
	p.level = level
	least := len(levels())
	for q := range p.l.ports {
		if at := slices.Index(levels(), q.level); at >= 0 {
			least = min(least, at)
		}
	}
	if wanted := levels()[least]; wanted != p.l.level {
		p.l.level = wanted
		p.forward(&jsonrpc.Request{ID: req.ID, Method: req.Method, Params: mcpjson.Encode(map[string]string{"level": wanted})}, &sent{})
		return
	}
	p.tell(empty(req.ID))
}
