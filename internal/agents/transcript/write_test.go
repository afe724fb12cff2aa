package transcript

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
)

// An event is one thing an agent writes down.
type event struct {
	at      time.Time
	id      string
	tool    string
	args    string // JSON
	outcome Outcome
	result  bool // it is a result, not a call
	hosted  bool
	noise   bool // it is something else
}

// A session to be written, with its parent's name if it has one.
type written struct {
	id, parent string
	events     []event
}

// A form writes sessions as one agent does.
type form struct {
	shell, mcp string // names of tools
	// files returns the files by their paths.
	files func(list []written) map[string][]byte
}

func forms() map[string]form {
	lined := func(place func(w written) string, head func(w written) string, line func(w written, e event) string) func([]written) map[string][]byte {
		return func(list []written) map[string][]byte {
			out := map[string][]byte{}
			for _, w := range list {
				lines := []string{head(w)}
				for _, e := range w.events {
					lines = append(lines, line(w, e))
				}
				out[place(w)] = []byte(strings.Join(lines, "\n") + "\n")
			}
			return out
		}
	}
	piHead := func(w written) string {
		parent := ""
		if w.parent != "" {
			parent = "/x/2026-01-01T00-00-00-000Z_" + w.parent + ".jsonl"
		}
		return object("type", "session", "id", w.id, "parentSession", parent, "timestamp", base().Format(time.RFC3339))
	}
	return map[string]form{
		piName:       {"bash", "server_tool", lined(func(w written) string { return ".pi/agent/sessions/--p--/t_" + w.id + ".jsonl" }, piHead, writePi)},
		openclawName: {"exec", "server__tool", writeOpenClaw},
		codexName: {"exec_command", "mcp__server__tool", lined(func(w written) string { return ".codex/sessions/2026/01/02/rollout-t-" + w.id + ".jsonl" }, func(w written) string {
			return object("type", "session_meta", "payload", raw(object("id", w.id, "parent_thread_id", w.parent)))
		}, writeCodex)},
		claudeName: {"Bash", "mcp__server__tool", lined(func(w written) string {
			if w.parent != "" {
				return ".claude/projects/-p/" + w.parent + "/subagents/agent-" + w.id + ".jsonl"
			}
			return ".claude/projects/-p/" + w.id + ".jsonl"
		}, func(written) string { return `{"type":"file-history-snapshot"}` }, writeClaude)},
		geminiName: {"run_shell_command", "mcp_server_tool", lined(func(w written) string {
			if w.parent != "" {
				return ".gemini/tmp/p/chats/" + w.parent + "/" + w.id + ".jsonl"
			}
			return ".gemini/tmp/p/chats/session-" + w.id + ".jsonl"
		}, func(w written) string { return object("sessionId", w.id, "kind", "main") }, writeGemini)},
		opencodeName: {"bash", "server_tool", writeOpencode},
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// object writes pairs as JSON.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if s, ok := pairs[i+1].(string); ok && s == "" {
			continue
		}
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(data)
}

const refusedText = "floodmark: refused because an example says so."

// said returns the text of a result in an agent's form.
func (e event) said(refused, never string) (text string, failed bool) {
	switch e.outcome {
	case Refused:
		return refused, true
	case Never:
		return never, true
	default:
		return "output of " + e.id, false
	}
}

func writePi(_ written, e event) string {
	at := e.at.Format(time.RFC3339Nano)
	text, failed := e.said(refusedText, "Tool "+e.tool+" not found")
	switch {
	case e.noise:
		return `{"type":"compaction","summary":"` + e.id + `"}`
	case e.result:
		return object("type", "message", "timestamp", at, "message", raw(object("role", "toolResult", "toolCallId", e.id, "toolName", e.tool,
			"content", []any{raw(object("type", "text", "text", text))}, "isError", failed)))
	}
	return object("type", "message", "timestamp", at, "message", raw(object("role", "assistant",
		"content", []any{raw(object("type", "toolCall", "id", e.id, "name", e.tool, "arguments", raw(e.args)))})))
}

func writeOpenClaw(list []written) map[string][]byte {
	var lines []string
	for _, w := range list {
		lines = append(lines, object("table", "session_windows", "session_id", w.id, "session_key", "agent:main:explicit:"+w.id, "parent_session_key", w.parent))
		for i, e := range w.events {
			lines = append(lines, object("table", "transcript_events", "session_id", w.id, "seq", i, "created_at", e.at.UnixMilli(), "event_json", raw(writePi(w, e))))
		}
	}
	return map[string][]byte{".openclaw/agents/main/agent/openclaw-agent.sqlite.rows": []byte(strings.Join(lines, "\n") + "\n")}
}

func writeOpencode(list []written) map[string][]byte {
	var lines []string
	for _, w := range list {
		lines = append(lines, object("table", "session", "id", w.id, "parent_id", w.parent))
		for i, e := range w.events {
			text, failed := e.said(refusedText, "The "+e.tool+" tool was called with invalid arguments: x")
			state := object("status", "completed", "input", raw(e.args), "output", text)
			switch {
			case e.noise:
				lines = append(lines, object("table", "part", "id", fmt.Sprint(i), "session_id", w.id, "time_created", e.at.UnixMilli(), "data", raw(`{"type":"text","text":"x"}`)))
				continue
			case !e.result && !pending(w.events[i:], e.id):
				continue // a call and its result are one row
			case !e.result:
				state = object("status", "running", "input", raw(e.args))
			case failed:
				state = object("status", "error", "input", raw(e.args), "error", text)
			}
			part := object("type", "tool", "tool", e.tool, "callID", e.id, "state", raw(state))
			lines = append(lines, object("table", "part", "id", fmt.Sprint(i), "session_id", w.id, "time_created", e.at.UnixMilli(), "data", raw(part)))
		}
	}
	return map[string][]byte{".local/share/opencode/opencode.db.rows": []byte(strings.Join(lines, "\n") + "\n")}
}

// pending reports whether no result of a call follows.
func pending(rest []event, id string) bool {
	for _, e := range rest {
		if e.result && e.id == id {
			return false
		}
	}
	return true
}

func writeCodex(_ written, e event) string {
	kind, payload := "response_item", object("type", "function_call", "name", e.tool, "arguments", e.args, "call_id", e.id)
	text, _ := e.said("Command blocked by PreToolUse hook: "+refusedText, "unsupported call: "+e.tool)
	switch {
	case e.noise:
		kind, payload = "compacted", object("message", "x", "replacement_history", []any{raw(object("type", "function_call", "name", "old", "call_id", "old"))})
	case e.hosted:
		payload = object("type", "web_search_call", "id", e.id, "status", "completed", "action", raw(`{"type":"search","query":"x"}`))
	case e.result:
		payload = object("type", "function_call_output", "call_id", e.id, "output", text)
	}
	return object("timestamp", e.at.Format(time.RFC3339Nano), "type", kind, "payload", raw(payload))
}

func writeClaude(w written, e event) string {
	session, agent := w.id, ""
	if w.parent != "" {
		session, agent = w.parent, w.id
	}
	text, failed := e.said(refusedText, "<tool_use_error>Error: No such tool available: "+e.tool+"</tool_use_error>")
	kind, block := "assistant", object("type", "tool_use", "id", e.id, "name", e.tool, "input", raw(e.args))
	switch {
	case e.noise:
		return object("type", "system", "subtype", "compact_boundary", "sessionId", session)
	case e.hosted:
		block = object("type", "server_tool_use", "id", e.id, "name", "web_search", "input", raw(`{"query":"x"}`))
	case e.result:
		kind, block = "user", object("type", "tool_result", "tool_use_id", e.id, "content", text, "is_error", failed)
	}
	return object("type", kind, "timestamp", e.at.Format(time.RFC3339Nano), "sessionId", session, "agentId", agent, "isSidechain", agent != "",
		"message", raw(object("role", kind, "content", []any{raw(block)})))
}

func writeGemini(_ written, e event) string {
	at := e.at.Format(time.RFC3339Nano)
	text, failed := e.said("Tool execution blocked: "+refusedText, `Tool "`+e.tool+`" not found. Did you mean one of: "x"?`)
	call := object("id", e.id, "name", e.tool, "args", raw(e.args), "status", "executing", "timestamp", at)
	if e.result {
		word, status := "output", "success"
		if failed {
			word, status = "error", "error"
		}
		response := object("functionResponse", raw(object("id", e.id, "name", e.tool, "response", raw(object(word, text)))))
		call = object("id", e.id, "name", e.tool, "args", raw(e.args), "status", status, "timestamp", at, "result", []any{raw(response)})
	}
	if e.noise {
		return object("$set", raw(object("lastUpdated", at)))
	}
	return object("id", "m-"+e.id, "timestamp", at, "type", "gemini", "content", "x", "toolCalls", []any{raw(call)})
}

func base() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// decision returns the decision that the hook of an agent would have caused.
func (e event) decision(agent string) Decision {
	d := Decision{Call: floodmark.CallID(e.id), Tool: floodmark.ToolRef{Agent: agent, Name: e.tool}, Args: digest(raw(e.args)), Allowed: e.outcome != Refused}
	if agent == geminiName {
		d.Call = floodmark.CallID("args:" + d.Args.Short())
		if rest, ok := strings.CutPrefix(e.tool, "mcp_server_"); ok {
			d.Tool.Server, d.Tool.Name = "server", rest
		}
	}
	return d
}

// A story is made-up sessions, with the decisions in each.
type story struct {
	agent string
	form  form
	list  []written
	known map[string]*Record
	next  int
	now   time.Time
	rnd   *rand.Rand
}

func newStory(agent string, seed uint64) *story {
	return &story{agent: agent, form: forms()[agent], known: map[string]*Record{}, now: base(), rnd: rand.New(rand.NewPCG(seed, 7))}
}

func (s *story) tick() time.Time {
	s.now = s.now.Add(time.Duration(1+s.rnd.IntN(3000)) * time.Millisecond)
	return s.now
}

// run returns the story as files.
func (s *story) run() run { return run{agent: s.agent, files: s.form.files(s.list), records: s.known} }
