package mcpshare

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// got handles one message of the server.
func (l *line) got(msg jsonrpc.Message) {
	var told func()
	l.h.mu.Lock()
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		told = l.answered(msg)
	case *jsonrpc.Request:
		if msg.IsCall() {
			told = l.asks(msg)
		} else {
			l.notes(msg)
		}
	}
	l.h.mu.Unlock()
	if told != nil {
		told()
	}
}

// answered forwards an answer to the client that asked. Its caller holds the lock, and calls the
// returned function, unless nil, after releasing it.
func (l *line) answered(m *jsonrpc.Response) func() {
	s := l.sent[m.ID]
	if s == nil {
		return nil // there is no such call, or it was cancelled
	}
	l.done(m.ID)
	if s.answered != nil {
		return func() { s.answered(m) }
	}
	p := s.port
	delete(p.calls, s.id)
	out := &jsonrpc.Response{ID: s.id, Result: m.Result, Error: m.Error}
	switch {
	case s.place != "" && m.Error != nil && l.heard[s.place][p]:
		p.subs--
		if delete(l.heard[s.place], p); len(l.heard[s.place]) == 0 {
			delete(l.heard, s.place)
		}
	case m.Error != nil:
	case s.method == "tasks/list":
		out.Result = p.ownTasks(m.Result)
	case s.method == "tools/call" || strings.HasPrefix(s.method, "tasks/"):
		p.began(m.Result)
	}
	p.tell(out)
	return nil
}

// began records that the task in the server's answer belongs to this client. A task that belongs to
// another client is left alone.
func (p *port) began(result json.RawMessage) {
	said, err := mcpjson.Fields(result)
	if err != nil {
		return
	}
	begun, _ := mcpjson.Fields(said["task"])
	id := text(begun["taskId"])
	if id != "" && p.l.tasks[id] == nil && p.tasks < MaxHeld {
		p.l.tasks[id] = &task{port: p, open: true}
		p.tasks++
	}
}

// ownTasks removes other clients' tasks from a list.
func (p *port) ownTasks(result json.RawMessage) json.RawMessage {
	said, _ := mcpjson.Fields(result)
	var items, own []json.RawMessage
	_ = json.Unmarshal(said["tasks"], &items) // anything but a list has no items
	for _, item := range items {
		about, _ := mcpjson.Fields(item)
		if t := p.l.tasks[text(about["taskId"])]; t != nil && t.port == p && one(about, "taskId") == nil {
			own = append(own, mcpjson.Encode(about))
		}
	}
	page := map[string]any{"tasks": append([]json.RawMessage{}, own...)}
	if said["nextCursor"] != nil {
		page["nextCursor"] = said["nextCursor"]
	}
	return mcpjson.Encode(page)
}

// asks forwards a call of the server to the client it is certainly for. Its caller holds the lock,
// and calls the returned function, unless nil, after releasing it.
func (l *line) asks(req *jsonrpc.Request) func() {
	if req.Method == "ping" {
		_ = l.send(empty(req.ID)) // lost if the server does not read
		return nil
	}
	p := l.whose(req.Params)
	why := ""
	switch {
	case p == nil:
		why = "floodmark: several clients use this server, and it is not certain which of them this is for"
	case !p.can(req.Method):
		why = "floodmark: the client that this is for does not offer it"
	case len(l.asked) >= MaxOpen:
		why = "floodmark: too many questions are open"
	case l.pending(req.ID):
		why = "floodmark: a question with this id is not answered yet"
	}
	if why != "" {
		_ = l.send(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidRequest, why)) // as above
		return func() {
			l.h.opts.Report("a question of the server was refused: " + strings.TrimPrefix(why, "floodmark: "))
		}
	}
	id := l.number()
	q := &question{port: p, id: req.ID}
	params, original, err := withToken(req.Params, mcpjson.Encode(id.Raw()))
	if err != nil {
		_ = l.send(mcpjson.Refuse(req.ID, jsonrpc.CodeInvalidParams, "floodmark: "+err.Error())) // as above
		return nil
	}
	if original != nil {
		q.token, q.original = mcpjson.TokenKey(mcpjson.Encode(id.Raw())), original
	}
	said, _ := mcpjson.Fields(req.Params)
	if form := text(said["elicitationId"]); form != "" && l.forms[form] == nil && len(l.forms) < MaxHeld {
		l.forms[form] = p
	}
	l.asked[id] = q
	p.tell(&jsonrpc.Request{ID: id, Method: req.Method, Params: params})
	return nil
}

// pending reports whether the server already has an unanswered call with this id.
func (l *line) pending(id jsonrpc.ID) bool {
	for _, q := range l.asked {
		if q.id == id {
			return true
		}
	}
	return false
}

// can reports whether the client has offered the capability that a method needs.
func (p *port) can(method string) bool {
	for prefix, capability := range map[string]string{"sampling/": "sampling", "elicitation/": "elicitation", "roots/": "roots"} {
		if strings.HasPrefix(method, prefix) {
			return p.caps[capability] != nil
		}
	}
	return true
}

// whose returns the client that a message of the server belongs to, or nil if that is not certain.
// If the message names a task, it is the client of that task. Otherwise it is the only client that
// the server is working for, or may still be working for.
func (l *line) whose(params json.RawMessage) *port {
	said, _ := mcpjson.Fields(params)
	meta, _ := mcpjson.Fields(said["_meta"])
	if raw := meta["io.modelcontextprotocol/related-task"]; raw != nil {
		related, _ := mcpjson.Fields(raw)
		if t := l.tasks[text(related["taskId"])]; t != nil {
			return t.port
		}
		return nil
	}
	var only *port
	sole := true
	works := func(p *port) {
		sole = sole && (only == nil || only == p)
		only = p
	}
	for _, s := range l.sent {
		if s.port != nil && !lists(s.method) && s.method != "logging/setLevel" && s.place == "" {
			works(s.port)
		}
	}
	for _, t := range l.tasks {
		if t.open {
			works(t.port)
		}
	}
	now := l.h.opts.Now()
	for p, until := range l.ghosts {
		if now.Before(until) {
			works(p)
		}
	}
	if !sole || only == nil || !l.ports[only] {
		return nil
	}
	return only
}

// notes forwards a notification of the server to the clients it belongs to.
func (l *line) notes(req *jsonrpc.Request) {
	said, err := mcpjson.Fields(req.Params)
	if err != nil {
		return
	}
	pass := func(p *port, params json.RawMessage) {
		if p != nil {
			p.tell(&jsonrpc.Request{Method: req.Method, Params: params})
		}
	}
	switch req.Method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		for p := range l.ports {
			pass(p, nil)
		}
	case "notifications/progress":
		if s := l.tokens[mcpjson.TokenKey(said["progressToken"])]; s != nil {
			said["progressToken"] = s.token
			pass(s.port, mcpjson.Encode(said))
		}
	case "notifications/resources/updated":
		for p := range l.heard[text(said["uri"])] {
			pass(p, mcpjson.Encode(said))
		}
	case "notifications/cancelled":
		id, _ := mcpjson.ID(said["requestId"])
		for ours, q := range l.asked {
			if q.id == id {
				delete(l.asked, ours)
				said["requestId"] = mcpjson.Encode(ours.Raw())
				pass(q.port, mcpjson.Encode(said))
			}
		}
	case "notifications/message":
		if p := l.whose(req.Params); p != nil && slices.Index(levels(), text(said["level"])) >= slices.Index(levels(), p.level) {
			pass(p, req.Params)
		}
	case "notifications/tasks/status":
		if t := l.tasks[text(said["taskId"])]; t != nil {
			pass(t.port, mcpjson.Encode(said))
		}
	case "notifications/elicitation/complete":
		pass(l.forms[text(said["elicitationId"])], mcpjson.Encode(said))
		delete(l.forms, text(said["elicitationId"]))
	default:
		pass(l.whose(req.Params), req.Params)
	}
}
