package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
)

// read reads lines as one agent's.
func read(t testing.TB, agent, text string) Session {
	t.Helper()
	name := map[string]string{geminiName: "x.jsonl", openclawName: "x.jsonl"}[agent]
	path := filepath.Join(t.TempDir(), "chats", name+"f")
	if name != "" {
		path = strings.TrimSuffix(path, "f")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Read(agent, File{Path: path, Changed: base()})
	if err != nil || len(list) > 1 {
		t.Fatal(list, err)
	}
	if len(list) == 0 {
		return Session{}
	}
	return list[0]
}

// An outcomeRow is a result and its expected outcome.
type outcomeRow struct {
	tool, text string
	failed     bool
	want       Outcome
}

func outcomeRows() map[string][]outcomeRow {
	return map[string][]outcomeRow{
		piName: {
			{"bash", "floodmark: no.", true, Refused},
			{"bash", "floodmark: no.", false, Ran}, // an echo is no refusal
			{"bash", "floodmark: no.\nand more", true, Ran},
			{"bash", "x floodmark: no.", true, Ran},
			{"nosuch", "Tool nosuch not found", true, Never},
			{"bash", "Tool nosuch not found", true, Ran},
			{"nosuch", "Tool nosuch not found", false, Ran},
			{"bash", "Validation failed for tool \"bash\":\n - x", true, Never},
		},
		codexName: {
			{"exec_command", "Command blocked by PreToolUse hook: floodmark: no.. Command: x", false, Refused},
			{"exec_command", "Chunk ID: 1\nOutput:\nhook: floodmark: no", false, Ran},
			{"x", "unsupported call: x", false, Never},
			{"exec_command", "unsupported call: x", false, Ran},
			{"exec_command", "failed to parse function arguments: missing field", false, Never},
			{"write_stdin", "write_stdin failed: Unknown process id 1", false, Never},
			{"exec_command", "write_stdin failed: x", false, Ran},
			{"exec_command", "aborted", false, Unknown},
			{"exec_command", "aborted by user after 3.0s", false, Ran},
		},
		claudeName: {
			{"Bash", "floodmark: no.", true, Refused},
			{"Bash", "floodmark: no.", false, Ran},
			{"Edit", "<tool_use_error>File has not been read yet.</tool_use_error>", true, Never},
			{"mcp__a__b", "<tool_use_error>anything</tool_use_error>", true, Ran},
			{"mcp__a__b", "<tool_use_error>Error: No such tool available: mcp__a__b</tool_use_error>", true, Never},
			{"Bash", "Exit code 1\n<tool_use_error>x</tool_use_error>", true, Ran},
		},
		geminiName: {
			{"run_shell_command", "Tool execution blocked: floodmark: no.", true, Refused},
			{"x", `Tool "x" not found. Did you mean one of: "y"?`, true, Never},
			{"run_shell_command", "params must have required property 'command'", true, Never},
			{"read_file", "File not found: x", true, Ran},
			{"run_shell_command", "", false, Ran},
		},
		openclawName: {
			{"exec", "floodmark: no.", false, Refused},
			{"exec", "one\nfloodmark: no.", false, Ran},
			{"nosuch", "Tool nosuch not found", true, Never},
		},
	}
}

// The outcomes of calls in the form of each agent.
func TestOutcomes(t *testing.T) {
	ask := map[string]func(outcomeRow) Outcome{
		piName:       func(r outcomeRow) Outcome { return piOutcome(r.tool, r.text, r.failed) },
		openclawName: func(r outcomeRow) Outcome { return openclawOutcome(r.tool, r.text, r.failed) },
		codexName:    func(r outcomeRow) Outcome { return codexOutcome(r.tool, r.text) },
		claudeName:   func(r outcomeRow) Outcome { return claudeOutcome(r.tool, r.text, r.failed) },
		geminiName: func(r outcomeRow) Outcome {
			return geminiOutcome(r.tool, map[bool]string{false: "success", true: "error"}[r.failed], r.text)
		},
	}
	for agent, rows := range outcomeRows() {
		for _, r := range rows {
			if got := ask[agent](r); got != r.want {
				t.Errorf("%s %q %v: %v, want %v", agent, r.text, r.failed, got, r.want)
			}
		}
	}
}

// A result without its call is recorded as a call. A poll is not a call. A call that Codex saw
// running ran, even if the model got another result.
func TestCodexOddities(t *testing.T) {
	s := read(t, codexName, `{"type":"session_meta","payload":{"id":"s","forked_from_id":"p"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"lost","output":"x"}}
{"type":"response_item","payload":{"type":"function_call","name":"write_stdin","arguments":"{\"session_id\":1,\"chars\":\"\"}","call_id":"poll"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"poll","output":"Chunk ID: 1"}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"a"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"Command blocked by PreToolUse hook: floodmark: no."}}
{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"a","status":"completed"}}}
{"type":"response_item","payload":{"type":"local_shell_call","call_id":"b","action":{"command":["ls"]}}}
not json
{"type":"response_item","payload":{"type":"function_ca`)
	want := Session{Agent: codexName, Names: []string{"s", "p"}, Unread: 1, Calls: []Call{
		{ID: "lost", Tool: "function_call_output", At: base(), Outcome: Ran},
		{ID: "a", Tool: "exec_command", Args: digest(raw("{}")), At: base(), Outcome: Ran},
		{ID: "b", Tool: "local_shell_call", Args: digest(raw(`{"command":["ls"]}`)), At: base()},
	}}
	if diff := cmp.Diff(want, s, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Place" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
}

// Older forms: one document of Gemini, files of opencode, lines of OpenClaw.
func TestOlderForms(t *testing.T) {
	for agent, files := range map[string]map[string]string{
		geminiName: {".gemini/tmp/p/chats/session-1.json": `{"sessionId":"s","messages":[{"type":"gemini","timestamp":"2026-01-02T03:04:05Z","toolCalls":[{"id":"c","name":"x","args":{},"status":"success"}]}]}`},
		opencodeName: {
			".local/share/opencode/storage/session/p/ses_1.json":  `{"id":"ses_1","parentID":"ses_0"}`,
			".local/share/opencode/storage/message/ses_1/m1.json": `{}`,
			".local/share/opencode/storage/part/m1/p1.json":       `{"type":"tool","tool":"x","callID":"c","state":{"status":"completed","input":{},"time":{"start":1767323045000}}}`,
		},
		openclawName: {".openclaw/agents/main/sessions/sessions.json": `{"k":{"sessionId":"s"},"l":{"sessionId":"t"}}`, ".openclaw/agents/main/sessions/s.jsonl": `{"type":"session","id":"s"}` + "\n" + `{"type":"message","timestamp":"2026-01-02T03:04:05Z","message":{"role":"toolResult","toolCallId":"c","toolName":"x","content":"y"}}`},
	} {
		r := run{agent: agent, files: map[string][]byte{}}
		for name, text := range files {
			r.files[name] = []byte(text)
		}
		got := r.cover(t)
		if len(got.Reports) != 1 || got.ran() != 1 || got.Reports[0].Session.Calls[0].Tool != "x" || !got.Reports[0].Session.Calls[0].At.Equal(base()) {
			t.Errorf("%s: %+v", agent, got)
			continue
		}
		want := map[string]string{geminiName: "s", opencodeName: "ses_1 ses_0", openclawName: "k#s s"}[agent]
		if names := strings.Join(got.Reports[0].Session.Names, " "); names != want {
			t.Errorf("%s is called %q", agent, names)
		}
	}
}

// A call whose result OpenClaw compressed has run, because refusals are short.
func TestCompressedResult(t *testing.T) {
	call := writePi(written{}, event{at: base(), id: "c", tool: "exec", args: "{}"})
	for name, more := range map[string]string{
		"compressed": object("table", "transcript_events", "session_id", "s", "seq", 2, "created_at", 1, "event_json", nil) + "\n",
		"none":       "",
	} {
		r := run{agent: openclawName, records: map[string]*Record{"s": {Opened: base().Add(-time.Hour), Decisions: []Decision{{Call: "other"}}}}, files: map[string][]byte{
			".openclaw/agents/main/agent/openclaw-agent.sqlite.rows": []byte(object("table", "transcript_events", "session_id", "s", "seq", 1, "created_at", 1, "event_json", raw(call)) + "\n" + more),
		}}
		if got := r.cover(t); len(got.findings()) != len(more[:min(1, len(more))]) {
			t.Errorf("%s: %v", name, got.findings())
		}
	}
}

// A line of the maximum length is read. A longer one is counted as unread.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes long over so many bytes")
	}
	line := func(n int) []byte {
		const frame = `{"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":""}}` + "\n"
		return bytes.Replace([]byte(frame), []byte(`:""}}`), []byte(`:"`+strings.Repeat("x", n-len(frame))+`"}}`), 1)
	}
	for n, want := range map[int]int{MaxLine: 0, MaxLine + 1: 1} {
		g := newGather("s")
		if err := eachLine(bytes.NewReader(append(line(n), line(200)...)), g, readPi); err != nil || g.Unread != want || len(g.Calls) != 1 {
			t.Errorf("%d bytes: %d not read, %d calls, %v", n, g.Unread, len(g.Calls), err)
		}
	}
	g := newGather("s")
	for range MaxCalls + 1 {
		g.add(Call{Tool: "x"})
	}
	if len(g.Calls) != MaxCalls || g.Unread != 1 {
		t.Errorf("%d calls, %d not read", len(g.Calls), g.Unread)
	}
	if long := strings.Repeat("x", maxName); short(long) != long || short(long+"x") != long {
		t.Error("a name at its limit")
	}
	if long := strings.Repeat("x", maxOutcome); head(long) != long || head(long+"x") != long {
		t.Error("a result at its limit")
	}
}

// An agent that was never run has no transcripts; an unknown one is refused.
func TestFind(t *testing.T) {
	for _, agent := range Agents() {
		if list, more, err := Find(agent, Folders{Home: filepath.Join(t.TempDir(), "none")}, time.Time{}); len(list) > 0 || more || err != nil {
			t.Errorf("%s: %v %v %v", agent, list, more, err)
		}
	}
	if _, _, err := Find("cursor", Folders{Home: t.TempDir()}, time.Time{}); err == nil {
		t.Error("an agent without transcripts was looked for")
	}
	r := clean(codexName, 1).run()
	home := t.TempDir()
	for name := range r.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, base(), base()); err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range map[time.Time]int{base(): len(r.files), base().Add(time.Second): 0} {
		if list, _, err := Find(codexName, Folders{Home: home}, since); len(list) != want || err != nil {
			t.Errorf("since %s: %d of %d, %v", since, len(list), want, err)
		}
	}
}

// FuzzRead checks that any file can be read, and that the names of calls are bounded.
func FuzzRead(f *testing.F) {
	for _, agent := range Agents() {
		if agent == opencodeName {
			continue
		}
		for _, text := range clean(agent, 3).run().files {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, take := range map[string]func(*gather, []byte) error{
			piName: readPi, codexName: readCodex, claudeName: readClaude, geminiName: geminiLine,
			opencodeName: func(g *gather, line []byte) error { return g.opencode(line, base()) },
		} {
			g := newGather()
			if err := eachLine(bytes.NewReader(text), g, take); err != nil {
				t.Fatal(name, err)
			}
			for _, c := range g.Calls {
				if len(c.ID) > maxName || len(c.Tool) > maxName || c.Outcome > Ran {
					t.Fatalf("%s: %+v", name, c)
				}
			}
			for _, s := range g.done() {
				Match(s, []*Record{nil, {Decisions: []Decision{{Call: floodmark.CallID("c")}}}}, base())
			}
		}
	})
}
