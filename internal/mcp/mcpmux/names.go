package mcpmux

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
	"github.com/floodmark/floodmark/internal/mcp/upstream"
)

func note(method string, params map[string]any) *jsonrpc.Request {
	req := &jsonrpc.Request{Method: method}
	if params != nil {
		req.Params = mcpjson.Encode(params)
	}
	return req
}

// progressToken returns the key of the token in a call's parameters.
func progressToken(params json.RawMessage) string {
	if !bytes.Contains(params, []byte("progressToken")) {
		return ""
	}
	said, err := mcpjson.Fields(params)
	if err != nil {
		return ""
	}
	meta, err := mcpjson.Fields(said["_meta"])
	if err != nil {
		return ""
	}
	return mcpjson.TokenKey(meta["progressToken"])
}

// ownToken gives the progress token in a server's call a name that no other server uses.
func (s *server) ownToken(params json.RawMessage) (changed json.RawMessage, key string, original json.RawMessage) {
	if progressToken(params) == "" {
		return params, "", nil
	}
	said, err := mcpjson.Fields(params)
	if err != nil {
		return params, "", nil
	}
	meta, err := mcpjson.Fields(said["_meta"])
	if err != nil {
		return params, "", nil
	}
	original = meta["progressToken"]
	token := mcpjson.Encode(s.name + "/" + mcpjson.TokenKey(original))
	meta["progressToken"] = token
	said["_meta"] = mcpjson.Encode(meta)
	return mcpjson.Encode(said), mcpjson.TokenKey(token), original
}

// logger names the server of a log message.
func (s *server) logger(params json.RawMessage) json.RawMessage {
	said, err := mcpjson.Fields(params)
	if err != nil {
		return params
	}
	name := s.name
	if own, ok := mcpjson.Text(said["logger"]); ok && own != "" {
		name += "/" + own
	}
	said["logger"] = mcpjson.Encode(name)
	return mcpjson.Encode(said)
}

// own puts the server's name before the name of one of its things.
func (s *server) own(item json.RawMessage) (json.RawMessage, error) {
	said, err := mcpjson.Fields(item)
	if err != nil {
		return nil, err
	}
	name, ok := mcpjson.Text(said["name"])
	if !ok {
		return nil, errors.New("it has no name")
	}
	said["name"] = mcpjson.Encode(s.name + upstream.Separator + name)
	return mcpjson.Encode(said), nil
}

// split finds the server in the name of a thing.
func (m *Mux) split(raw json.RawMessage) (*server, string, *jsonrpc.Error) {
	name, ok := mcpjson.Text(raw)
	if !ok {
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "name: want a text"}
	}
	server, rest, ok := strings.Cut(name, upstream.Separator)
	s := m.named(server)
	if !ok || s == nil {
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%q: no server here has such a name; names are as listed, SERVER%sNAME", name, upstream.Separator)}
	}
	return s, rest, nil
}

// target returns the server a call is for, with the parameters as that server has them.
func (m *Mux) target(req *jsonrpc.Request, looked bool) (*server, json.RawMessage, *jsonrpc.Error) {
	said, err := mcpjson.Fields(req.Params)
	if err != nil {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	switch req.Method {
	case "tools/call", "prompts/get":
		s, name, wrong := m.split(said["name"])
		if wrong != nil {
			return nil, nil, wrong
		}
		said["name"] = mcpjson.Encode(name)
		return s, mcpjson.Encode(said), nil
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		s, uri, wrong := m.holder(said["uri"], looked)
		if wrong != nil {
			return nil, nil, wrong
		}
		if asked, _ := mcpjson.Text(said["uri"]); asked == uri {
			return s, req.Params, nil
		}
		said["uri"] = mcpjson.Encode(uri)
		return s, mcpjson.Encode(said), nil
	case "completion/complete":
		return m.completes(said, looked)
	}
	if s := m.tasked(said["taskId"]); s != nil {
		return s, req.Params, nil
	}
	if len(m.servers) == 1 {
		return m.servers[0], req.Params, nil
	}
	return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q says not which server it is for", req.Method)}
}

// completes returns the server for a completion.
func (m *Mux) completes(said map[string]json.RawMessage, looked bool) (*server, json.RawMessage, *jsonrpc.Error) {
	ref, err := mcpjson.Fields(said["ref"])
	if err != nil {
		return nil, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "ref: " + err.Error()}
	}
	if kind, _ := mcpjson.Text(ref["type"]); kind != "ref/prompt" {
		s, uri, wrong := m.holder(ref["uri"], looked)
		if wrong != nil {
			return nil, nil, wrong
		}
		ref["uri"] = mcpjson.Encode(uri)
		said["ref"] = mcpjson.Encode(ref)
		return s, mcpjson.Encode(said), nil
	}
	s, name, wrong := m.split(ref["name"])
	if wrong != nil {
		return nil, nil, wrong
	}
	ref["name"] = mcpjson.Encode(name)
	said["ref"] = mcpjson.Encode(ref)
	return s, mcpjson.Encode(said), nil
}

// holder returns the server of a resource, with the address as that server has it:
//
//   - the server that the client named, as in SERVER__ADDRESS;
//   - else the only server that listed the address or has a template for it;
//   - else the only server that has resources.
//
// An address that two servers claim is refused, because a server must not take over another's
// resource. As long as the list of one of several servers is unread, it returns codeUnlisted,
// unless looked says that all were read.
func (m *Mux) holder(raw json.RawMessage, looked bool) (*server, string, *jsonrpc.Error) {
	uri, ok := mcpjson.Text(raw)
	if !ok {
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "uri: want a text"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if name, rest, ok := strings.Cut(uri, upstream.Separator); ok {
		// The scheme of an address cannot contain _.
		if i := slices.IndexFunc(m.servers, func(s *server) bool { return s.name == name }); i >= 0 && strings.Contains(rest, ":") {
			return m.servers[i], rest, nil
		}
	}
	var claim, all []*server
	unknown := false
	for _, s := range m.servers {
		if s.claims(uri) {
			claim = append(claim, s)
		}
		if s.caps["resources"] != nil {
			all = append(all, s)
			unknown = unknown || !s.listed
		}
	}
	switch {
	case len(claim) > 1:
		return nil, "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(
			"both %s and %s say that the resource %q is theirs: read it as %s%s%s if you mean the first", claim[0].name, claim[1].name, uri, claim[0].name, upstream.Separator, uri)}
	case len(claim) == 1 && (looked || !unknown || len(all) == 1):
		return claim[0], uri, nil
	case len(claim) == 0 && len(all) == 1:
		return all[0], uri, nil
	}
	return nil, "", &jsonrpc.Error{Code: codeUnlisted, Message: fmt.Sprintf("no server here lists the resource %q", uri)}
}

// claims reports whether a server listed an address, or has a template for it. Its caller holds the
// lock.
func (s *server) claims(uri string) bool {
	if s.addresses[uri] || s.templates[uri] {
		return true
	}
	for template := range s.templates {
		begin, _, _ := strings.Cut(template, "{")
		if strings.Contains(begin, ":") && strings.HasPrefix(uri, begin) {
			return true
		}
	}
	return false
}

// codeUnlisted marks, inside this package, an address that no server has listed so far.
const codeUnlisted = 0

// tasked returns the server that runs a task.
func (m *Mux) tasked(raw json.RawMessage) *server {
	id, ok := mcpjson.Text(raw)
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.servers {
		if s.tasks[id] {
			return s
		}
	}
	return nil
}

// can reports whether the server has a capability.
func (s *server) can(what string) bool {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return s.caps[what] != nil
}

// remember records the addresses of resources and the tasks that a result names, so that a later
// call for them finds its server.
func (s *server) remember(method string, result json.RawMessage) {
	if method != "tools/call" && method != "prompts/get" || !bytes.Contains(result, []byte(`"resource_link"`)) && !bytes.Contains(result, []byte(`"taskId"`)) {
		return
	}
	var said struct {
		Content []struct {
			Type string `json:"type"`
			URI  string `json:"uri"`
		} `json:"content"`
		Task struct {
			ID string `json:"taskId"`
		} `json:"task"`
	}
	if json.Unmarshal(result, &said) != nil {
		return
	}
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for _, c := range said.Content {
		if c.Type == "resource_link" {
			s.addresses = keep(s.addresses, c.URI)
		}
	}
	if said.Task.ID != "" {
		s.tasks = keep(s.tasks, said.Task.ID)
	}
}

// keep adds to a set as long as there is room.
func keep(set map[string]bool, what string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	if len(set) < MaxAddresses {
		set[what] = true
	}
	return set
}
