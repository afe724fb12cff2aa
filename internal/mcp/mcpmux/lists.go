package mcpmux

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/floodmark/floodmark/internal/mcp/mcpjson"
)

// A list describes a method that lists things.
type list struct {
	key, needs string // the field of the result, and the capability a server needs
	named      bool   // the things have names, to which the server's name is prefixed
	address    string // the field with a thing's address
}

// listed returns the description of a method that lists things, and the zero list for any other
// method.
func listed(method string) list {
	switch method {
	case "tools/list":
		return list{key: "tools", needs: "tools", named: true}
	case "prompts/list":
		return list{key: "prompts", needs: "prompts", named: true}
	case "resources/list":
		return list{key: "resources", needs: "resources", address: "uri"}
	case "resources/templates/list":
		return list{key: "resourceTemplates", needs: "resources", address: "uriTemplate"}
	case "tasks/list":
		return list{key: "tasks", needs: "tasks", address: "taskId"}
	}
	return list{}
}

// list answers with one page of every server, in the owner's order. The cursor says which servers
// have more pages. The client must ask for them, so an endless list is not read here. A server that
// fails is left out, so that the lists of the others are still returned.
func (m *Mux) list(c *call, method string, params json.RawMessage) {
	what := listed(method)
	said, err := mcpjson.Fields(params)
	if err != nil {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeInvalidParams, "params: "+err.Error()))
		return
	}
	cursors, err := m.cursors(said["cursor"])
	if err != nil {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeInvalidParams, "cursor: "+err.Error()))
		return
	}
	lines := m.listing(c.ctx, what, cursors)
	if len(lines) == 0 && what.needs != "tools" {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeMethodNotFound, "no server here has "+what.needs))
		return
	}
	answers := m.gather(c.ctx, lines, method, func(l *line) json.RawMessage {
		if cursors == nil {
			return params
		}
		said["cursor"] = mcpjson.Encode(cursors[l.s.name])
		return mcpjson.Encode(said)
	})
	result, err := merge(what, lines, answers, cursors == nil)
	if err != nil {
		m.fail(c, err)
		return
	}
	m.reply(c, &jsonrpc.Response{Result: result})
}

// listing returns the lines of the servers to ask. It restarts servers that have ended and whose
// pause is over.
func (m *Mux) listing(ctx context.Context, what list, cursors map[string]string) []*line {
	ctx, cancel := context.WithTimeout(ctx, m.opts.ListWait)
	defer cancel()
	lines := make([]*line, len(m.servers))
	var starts sync.WaitGroup
	for i, s := range m.servers {
		if _, more := cursors[s.name]; cursors != nil && !more {
			continue
		}
		starts.Go(func() {
			if l, err := s.await(ctx); err == nil && s.can(what.needs) {
				lines[i] = l
			}
		})
	}
	starts.Wait()
	return slices.DeleteFunc(lines, func(l *line) bool { return l == nil })
}

// merge makes one page out of many.
func merge(what list, lines []*line, answers []*jsonrpc.Response, first bool) (json.RawMessage, error) {
	items, more, metas := []json.RawMessage{}, map[string]string{}, map[string]json.RawMessage{}
	var failed error
	for i, l := range lines {
		page, err := l.s.page(what, answers[i], first)
		if err != nil {
			failed = errors.Join(failed, err)
			l.s.m.opts.Report(l.s.name, err)
			continue
		}
		items = append(items, page.items...)
		if page.next != "" {
			more[l.s.name] = page.next
		}
		if page.meta != nil {
			metas[l.s.name] = page.meta
		}
	}
	if len(lines) == 1 && failed != nil {
		return nil, failed
	}
	result := map[string]any{what.key: items}
	if len(more) > 0 {
		result["nextCursor"] = base64.RawURLEncoding.EncodeToString(mcpjson.Encode(more))
	}
	if len(metas) > 0 {
		result["_meta"] = map[string]any{metaServers: metas}
	}
	return mcpjson.Encode(result), nil
}

// metaServers is the key under which each server's own values are returned if the protocol has only
// one field for all servers.
const metaServers = "dev.floodmark/servers"

type page struct {
	items []json.RawMessage
	next  string
	meta  json.RawMessage
}

// page reads one server's page and records the addresses in it. It leaves out a thing without a
// name if things of this list need one.
func (s *server) page(what list, answer *jsonrpc.Response, first bool) (page, error) {
	if answer.Error != nil {
		return page{}, answer.Error
	}
	said, err := mcpjson.Fields(answer.Result)
	if err != nil {
		return page{}, fmt.Errorf("server %q: list: %w", s.name, err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(said[what.key], &items); err != nil && said[what.key] != nil {
		return page{}, fmt.Errorf("server %q: %s: not a list", s.name, what.key)
	}
	p := page{meta: said["_meta"]}
	p.next, _ = mcpjson.Text(said["nextCursor"])
	var places []string
	for _, item := range items {
		if what.named {
			if item, err = s.own(item); err != nil {
				s.m.opts.Report(s.name, fmt.Errorf("%s: %w", what.key, err))
				continue
			}
		}
		if what.address != "" {
			thing, _ := mcpjson.Fields(item)
			place, _ := mcpjson.Text(thing[what.address])
			places = append(places, place)
		}
		p.items = append(p.items, item)
	}
	s.note(what, places, first)
	return p, nil
}

// note records the addresses that the server has listed. A first page replaces the earlier ones.
func (s *server) note(what list, places []string, first bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	set := map[string]*map[string]bool{"uri": &s.addresses, "uriTemplate": &s.templates, "taskId": &s.tasks}[what.address]
	if set == nil {
		return
	}
	s.listed = s.listed || what.address == "uri"
	if first {
		*set = nil
	}
	for _, p := range places {
		*set = keep(*set, p)
	}
}

// cursors decodes our own cursor into the cursor of each server, or returns nil if there is none.
func (m *Mux) cursors(raw json.RawMessage) (map[string]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	wrong := errors.New("it is none that was given out here")
	coded, ok := mcpjson.Text(raw)
	if !ok || coded == "" || len(coded) > MaxCursor {
		return nil, wrong
	}
	data, err := base64.RawURLEncoding.DecodeString(coded)
	if err != nil {
		return nil, wrong
	}
	var cursors map[string]string
	if json.Unmarshal(data, &cursors) != nil || len(cursors) == 0 {
		return nil, wrong
	}
	for name := range cursors {
		if m.named(name) == nil {
			return nil, wrong
		}
	}
	return cursors, nil
}

// initialize starts all servers and answers with their capabilities together.
func (m *Mux) initialize(c *call, params json.RawMessage) {
	said, err := mcpjson.Fields(params)
	if err != nil {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeInvalidParams, "params: "+err.Error()))
		return
	}
	m.mu.Lock()
	twice := m.hello != nil
	if !twice {
		m.hello = mcpjson.Encode(said)
	}
	m.mu.Unlock()
	if twice {
		m.reply(c, mcpjson.Refuse(c.id, jsonrpc.CodeInvalidRequest, "initialize was said already"))
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, m.opts.StartWait)
	defer cancel()
	var starts sync.WaitGroup
	for _, s := range m.servers {
		starts.Go(func() { _, _ = s.await(ctx) }) // Report gets the error
	}
	starts.Wait()
	asked, _ := mcpjson.Text(said["protocolVersion"])
	m.reply(c, &jsonrpc.Response{Result: m.welcome(asked)})
}

// usualVersion is the protocol version for a client whose own version is not known here, if no
// server has answered.
const usualVersion = "2025-06-18"

// welcome merges the servers' answers. The version is the newest that a server agreed to, because
// messages of older versions are valid in it, too.
func (m *Mux) welcome(asked string) json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	version := ""
	caps := map[string]json.RawMessage{"tools": json.RawMessage(`{"listChanged":true}`)}
	var instructions []string
	each := map[string]json.RawMessage{}
	for _, s := range m.servers {
		if s.line == nil || !s.line.alive {
			continue
		}
		if v, _ := mcpjson.Text(s.hello["protocolVersion"]); v > version {
			version = v
		}
		for name, value := range s.caps {
			caps[name] = union(caps[name], value, maxUnion)
		}
		if say, _ := mcpjson.Text(s.hello["instructions"]); say != "" {
			instructions = append(instructions, "# "+s.name+"\n\n"+say)
		}
		rest := map[string]json.RawMessage{}
		for name, value := range s.hello {
			if !slices.Contains([]string{"protocolVersion", "capabilities", "instructions"}, name) {
				rest[name] = value
			}
		}
		each[s.name] = mcpjson.Encode(rest)
	}
	for _, name := range []string{"prompts", "resources"} {
		if caps[name] != nil {
			caps[name] = union(caps[name], json.RawMessage(`{"listChanged":true}`), maxUnion)
		}
	}
	if version == "" && slices.Contains([]string{"2024-11-05", "2025-03-26", usualVersion, "2025-11-25"}, asked) {
		version = asked
	}
	if version == "" {
		version = usualVersion
	}
	result := map[string]any{
		"protocolVersion": version, "capabilities": caps,
		"serverInfo": map[string]string{"name": m.opts.Name, "version": m.opts.Version},
	}
	if len(instructions) > 0 {
		result["instructions"] = strings.Join(instructions, "\n\n")
	}
	if len(each) > 0 {
		result["_meta"] = map[string]any{metaServers: each}
	}
	return mcpjson.Encode(result)
}

// maxUnion is how deep capabilities are merged; they are two deep.
const maxUnion = 8

// union merges two capabilities. Objects are merged field by field; a missing or false value gives
// way to the other; otherwise a wins.
func union(a, b json.RawMessage, deep int) json.RawMessage {
	if len(a) == 0 || string(a) == "false" || string(a) == "null" {
		return b
	}
	left, err := mcpjson.Fields(a)
	if err != nil || deep == 0 {
		return a
	}
	right, err := mcpjson.Fields(b)
	if err != nil {
		return a
	}
	for name, value := range right {
		left[name] = union(left[name], value, deep-1)
	}
	return mcpjson.Encode(left)
}
