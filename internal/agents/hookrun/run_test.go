package hookrun

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A called is the result of one run as the agent sees it.
type called struct {
	stdout, stderr string
	exit           int
}

func call(socket, stdin string, args ...string) called {
	var out, errs strings.Builder
	env := map[string]string{hookframe.SocketVariable: socket, "HOME": "/home/dev", "OPENAI_API_KEY": "secret"}
	exit := Run("floodmark-hook", args, Edge{Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return called{out.String(), errs.String(), exit}
}

// daemon accepts every connection and passes it to serve, until the test ends.
func daemon(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { defer conn.Close(); serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); wait.Wait() })
	return path
}

// says returns a server that answers every question with bytes.
func says(data []byte) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := hookframe.ReadRequest(conn); err == nil {
			_, _ = conn.Write(data)
		}
	}
}

func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestHandsOnAndDoesAsItIsTold(t *testing.T) {
	asked := make(chan hookframe.Request, 1)
	path := daemon(t, func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, func(_ context.Context, req hookframe.Request) hookframe.Response {
			asked <- req
			return hookframe.Response{Stdout: "out", Stderr: "err", Exit: 7}
		})
	})
	if got := call(path, " {\"a\":1}\n", "-deadline", "3s", "codex", "PreToolUse"); got != (called{"out", "err", 7}) {
		t.Errorf("%+v", got)
	}
	req := <-asked
	if req.Agent != "codex" || req.Event != "PreToolUse" || string(req.Raw) != `{"a":1}` || req.DeadlineMS > 3000 || req.DeadlineMS < 1000 {
		t.Errorf("%+v", req)
	}
	if len(req.Env) != 1 || req.Env["HOME"] != "/home/dev" {
		t.Errorf("the daemon was told %v", req.Env)
	}
}

// refused reports whether the answer is exactly that agent's denial.
func refused(agent, event string, got called) bool {
	if strings.TrimSpace(got.stderr) == "" {
		return false
	}
	switch agent + " " + event {
	case "codex PreToolUse", "claude-code PreToolUse":
		return got.exit == 0 && got.stdout == codexDeny
	case "codex PostToolUse", "codex UserPromptSubmit", "claude-code UserPromptSubmit", "claude-code UserPromptExpansion":
		return got.exit == 0 && got.stdout == codexBlock
	case "claude-code PostToolUse":
		return got.exit == 0 && got.stdout == claudeStop
	case "cursor preToolUse", "cursor beforeShellExecution", "cursor beforeMCPExecution", "cursor beforeReadFile", "cursor subagentStart":
		return got.exit == 0 && got.stdout == cursorDeny
	case "cursor beforeSubmitPrompt":
		return got.exit == 0 && got.stdout == cursorHalt
	case "cursor postToolUse":
		return got.exit == 0 && got.stdout == cursorWithheld
	case "copilot-cli preToolUse":
		return got.exit == 0 && got.stdout == copilotDeny
	case "copilot-cli permissionRequest":
		return got.exit == 0 && got.stdout == copilotBehavior
	case "copilot-cli userPromptSubmitted":
		return got.exit == 0 && got.stdout == copilotBlock
	case "copilot-cli postToolUse":
		return got.exit == 0 && got.stdout == copilotWithheld
	case "gemini-cli BeforeTool", "gemini-cli AfterTool", "gemini-cli BeforeAgent":
		return got.exit == 0 && got.stdout == geminiDeny
	case "gemini-cli AfterAgent":
		return got.exit == 0 && got.stdout == geminiStop
	case "codex Stop", "codex SubagentStop", "claude-code Stop", "claude-code SubagentStop",
		"copilot-cli agentStop", "copilot-cli subagentStop", "cursor stop", "cursor subagentStop":
		return got.exit == 1 && got.stdout == ""
	}
	return got.exit == 2 && got.stdout == ""
}

// everyEvent returns all events of all agents.
func everyEvent() []string {
	return []string{
		"codex PreToolUse", "codex PostToolUse", "codex UserPromptSubmit", "codex Stop", "codex SubagentStop", "codex SubagentStart", "codex SessionStart", "codex SessionEnd",
		"copilot-cli preToolUse", "copilot-cli permissionRequest", "copilot-cli userPromptSubmitted", "copilot-cli postToolUse",
		"copilot-cli postToolUseFailure", "copilot-cli agentStop", "copilot-cli subagentStop", "copilot-cli subagentStart", "copilot-cli sessionStart", "copilot-cli sessionEnd",
		"gemini-cli BeforeTool", "gemini-cli AfterTool", "gemini-cli BeforeAgent", "gemini-cli AfterAgent", "gemini-cli SessionStart", "gemini-cli SessionEnd",
		"claude-code PreToolUse", "claude-code PostToolUse", "claude-code PostToolUseFailure", "claude-code UserPromptSubmit", "claude-code UserPromptExpansion",
		"claude-code Stop", "claude-code SubagentStop", "claude-code SubagentStart", "claude-code SessionStart", "claude-code SessionEnd",
		"cursor preToolUse", "cursor beforeShellExecution", "cursor beforeMCPExecution", "cursor beforeReadFile", "cursor subagentStart", "cursor subagentStop",
		"cursor beforeSubmitPrompt", "cursor postToolUse", "cursor postToolUseFailure", "cursor stop", "cursor sessionStart", "cursor sessionEnd",
		"other Event",
	}
}

func TestEveryFailureIsThatAgentsNo(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "none")
	yes := daemon(t, says(frame(`{"v":1,"stdout":"","stderr":"","exit":0}`)))
	for name, c := range map[string]struct{ socket, stdin string }{
		"no daemon":      {nowhere, `{}`},
		"no path":        {"relative", `{}`},
		"no message":     {yes, ``},
		"no JSON":        {yes, `hello`},
		"two values":     {yes, `{} {}`},
		"too large":      {yes, `"` + strings.Repeat("x", hookframe.MaxRequest) + `"`},
		"silent daemon":  {daemon(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }), `{}`},
		"closed at once": {daemon(t, func(net.Conn) {}), `{}`},
		"garbage":        {daemon(t, says([]byte("HTTP/1.1 200 OK\r\n\r\n"))), `{}`},
		"half an answer": {daemon(t, says(frame(`{"v":1,"stdout":"","stderr":"","exit":0}`)[:20])), `{}`},
		"newer answer":   {daemon(t, says(frame(`{"v":2,"stdout":"","stderr":"","exit":0}`))), `{}`},
		"no status":      {daemon(t, says(frame(`{"v":1,"stdout":"","stderr":""}`))), `{}`},
	} {
		for _, event := range everyEvent() {
			agent, event, _ := strings.Cut(event, " ")
			if got := call(c.socket, c.stdin, "-deadline", "60ms", agent, event); !refused(agent, event, got) {
				t.Errorf("%s, %s %s: %+v", name, agent, event, got)
			}
		}
	}
}

func TestWrongUseIsANo(t *testing.T) {
	for _, args := range [][]string{{}, {"codex"}, {"codex", "PreToolUse", "x"}, {"-deadline", "0s", "codex", "PreToolUse"}, {"-deadline", "11m", "pi", "tool_call"}, {"-deadline", "soon", "x", "y"}} {
		agent, event := "", ""
		if len(args) == 4 {
			agent, event = args[2], args[3]
		}
		if got := call("/nowhere", `{}`, args...); !refused(agent, event, got) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// Standard input that never ends does not delay the answer.
func TestSilentAgentIsRefusedInTime(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	var out, errs strings.Builder
	exit := Run("floodmark-hook", []string{"-deadline", "100ms", "codex", "PreToolUse"},
		Edge{Getenv: func(name string) string { return map[string]string{hookframe.SocketVariable: "/nowhere"}[name] }, Stdin: r, Stdout: &out, Stderr: &errs})
	if !refused("codex", "PreToolUse", called{out.String(), errs.String(), exit}) {
		t.Errorf("%q %q %d", out.String(), errs.String(), exit)
	}
}

func TestRefusalsAreJSON(t *testing.T) {
	for _, text := range []string{codexDeny, codexBlock, claudeStop, cursorDeny, cursorHalt, cursorWithheld, geminiDeny, geminiStop, copilotDeny, copilotBehavior, copilotBlock, copilotWithheld} {
		if !json.Valid([]byte(text)) {
			t.Error(text)
		}
	}
}

// The daemon and the hook compute the same socket path.
func TestTheSocketIsWhereTheDaemonListens(t *testing.T) {
	for _, env := range []map[string]string{
		{"HOME": "/home/dev"},
		{"HOME": "/home/dev", "XDG_STATE_HOME": "/st"},
		{"HOME": "/home/dev", "XDG_STATE_HOME": "/st", "XDG_RUNTIME_DIR": "/run/user/7"},
		{"HOME": "/home/dev", "XDG_RUNTIME_DIR": "relative"},
	} {
		get := func(name string) string { return env[name] }
		ours, err := hookframe.SocketPath(get)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := config.UserPaths(get, env["HOME"])
		if err != nil || theirs.HookSocket != ours {
			t.Errorf("%v: %s and %s, %v", env, ours, theirs.HookSocket, err)
		}
	}
}

// Settings take precedence over the environment, which must not choose an agent's monitor.
func TestTheSettingsChooseTheMonitor(t *testing.T) {
	answer := func(word string) string {
		return daemon(t, func(conn net.Conn) {
			_ = hookframe.Serve(context.Background(), conn, func(context.Context, hookframe.Request) hookframe.Response {
				return hookframe.Response{Stdout: word}
			})
		})
	}
	mine, theirs := answer("mine"), answer("theirs")
	for _, args := range [][]string{
		{"-socket", mine, "codex", "PreToolUse"},
		{"--socket", mine, "-deadline", "3s", "codex", "PreToolUse"},
		{"-deadline", "3s", "-socket", mine, "codex", "PreToolUse"},
	} {
		if got := call(theirs, "{}", args...); got.stdout != "mine" || got.exit != 0 {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for _, args := range [][]string{{"-socket", "relative", "codex", "PreToolUse"}, {"-sock", mine, "codex", "PreToolUse"}, {"-socket", mine}} {
		if got := call(theirs, "{}", args...); got.stdout == "theirs" || got.stderr == "" || got.stdout == "" && got.exit == 0 {
			t.Errorf("%v: %+v, want a refusal", args, got)
		}
	}
}

// The error for an answer of another version names both versions, so that a person knows which
// program to update.
func TestAnAnswerOfAnotherVersionNamesBoth(t *testing.T) {
	path := daemon(t, says(frame(`{"v":2,"stdout":"","stderr":"","exit":0}`)))
	got := call(path, `{}`, "codex", "PreToolUse")
	if !refused("codex", "PreToolUse", got) || !strings.Contains(got.stderr, "version 2") || !strings.Contains(got.stderr, "version 1") {
		t.Errorf("%+v", got)
	}
}

// The argument for help alone prints the help; together with any other argument it is a denial.
func TestHelp(t *testing.T) {
	for _, word := range []string{"-h", "-help", "--help", "help"} {
		got := call("/nowhere", "", word)
		if got.exit != 0 || !strings.Contains(got.stdout, usage("floodmark-hook")) || !strings.Contains(got.stdout, maxDeadline) {
			t.Errorf("%s: %+v", word, got)
		}
	}
	if got := call("/nowhere", "{}", "codex", "--help"); got.exit != hookframe.Refused {
		t.Errorf("as an event: %+v", got)
	}
	if d, err := time.ParseDuration(maxDeadline); err != nil || d != hookframe.MaxWait {
		t.Errorf("the help says %s, the limit is %s", maxDeadline, hookframe.MaxWait)
	}
}

// A hook answers within half of its time in the settings, for every event in them. That is so even
// if the agent lets a call run when its hook is late: then the shell around the hook sets the
// limit, and the agent waits for an hour. Every event in the settings is also in the list of
// refusals above.
func TestDeadlinesAreHalfOfTheSettings(t *testing.T) {
	files, err := filepath.Glob("../../../integrations/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		for event, limit := range limits(t, file) {
			agent, name, _ := strings.Cut(event, " ")
			got := deadlineOf(agent, name)
			switch patient := agent != "cursor" && limit.shell == 15*time.Second; {
			case limit.person > 0: // at most half of the agent's time
				if limit.shell <= limit.person+2*got || limit.agent < 2*limit.shell {
					t.Errorf("%s: %v", event, limit)
				}
			case patient && (limit.agent != time.Hour || got >= limit.shell) || !patient && 2*got != limit.agent:
				t.Errorf("%s: %v of %v", event, got, limit)
			}
			if tool := strings.HasSuffix(name, "reToolUse") || name == "BeforeTool"; (limit.person > 0) != (tool && agent != "cursor") {
				t.Errorf("%s gives a person %v", event, limit.person)
			}
			if !slices.Contains(everyEvent(), event) {
				t.Errorf("%s: how it is refused is not tested", event)
			}
			seen++
		}
	}
	if seen < 40 {
		t.Errorf("only %d hooks found", seen)
	}
}

// A limit is how long a hook may take.
type limit struct {
	agent  time.Duration // after which the agent gives up
	shell  time.Duration // after which the shell ends the hook; zero: never
	person time.Duration // the time for a person
}

// limits returns the limits of each hook in a settings file.
func limits(t *testing.T, file string) map[string]limit {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]limit{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			command, _ := v["command"].(string)
			bash, _ := v["bash"].(string)
			if _, rest, ours := strings.Cut(command+bash, "floodmark-hook "); ours {
				words := strings.Fields(strings.ReplaceAll(rest, ")", " "))
				seconds, _ := v["timeout"].(float64)
				if words[0] == "gemini-cli" {
					seconds /= 1000
				}
				if s, is := v["timeoutSec"].(float64); is {
					seconds = s
				}
				one := limit{agent: time.Duration(seconds * float64(time.Second))}
				if _, kill, is := strings.Cut(command+bash, "timeout -s KILL "); is {
					one.shell, _ = time.ParseDuration(strings.Fields(kill)[0] + "s")
				}
				if words[0] == "-person" {
					one.person, _ = time.ParseDuration(words[1])
					words = words[2:]
				}
				found[words[0]+" "+words[1]] = one
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(all)
	return found
}

// The variable shortens the deadline; only the settings lengthen it.
func TestVariablesDoNotMakeAHookLate(t *testing.T) {
	for _, c := range []struct {
		variable, option string
		want             time.Duration
	}{
		{"", "", usualDeadline},
		{"3s", "", 3 * time.Second},
		{"5m", "", usualDeadline},
		{"", "5m", 5 * time.Minute},
		{"3s", "5m", 3 * time.Second},
		{"6m", "5m", 5 * time.Minute},
	} {
		args := []string{"codex", "PreToolUse"}
		if c.option != "" {
			args = append([]string{"-deadline", c.option}, args...)
		}
		o, err := options("floodmark-hook", args, func(string) string { return c.variable })
		if err != nil || o.deadline != c.want {
			t.Errorf("%+v: %v, %v", c, o.deadline, err)
		}
	}
	for _, wrong := range []string{"soon", "0s", "-1s", "11m"} {
		if o, err := options("floodmark-hook", []string{"codex", "PreToolUse"}, func(string) string { return wrong }); err == nil || o.agent != "codex" {
			t.Errorf("%s: %+v", wrong, o)
		}
	}
}
