package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
)

// answers are the results of a shim for one event of each kind.
type answers struct {
	Message bool   `json:"message"` // passed on to the model
	Call    string `json:"call"`    // why it is not run
	Ran     string `json:"ran"`     // the arguments with which it is run
	Result  string `json:"result"`  // what the model reads of its result
	Failed  string `json:"failed"`  // what the model reads of an error
	Shell   bool   `json:"shell"`   // whether a person's own command runs
	// Tools are the tools that the model is offered, in each form of a request. Aborted says that
	// the turn was ended before it was sent. Not all agents allow these.
	Tools   map[string]string `json:"tools"`
	Aborted bool              `json:"aborted"`
	// Answers are the answers that are sent, by who reads them. Only OpenClaw has them.
	Answers map[string]string `json:"answers"`
}

// leaves reports whether OpenClaw answers its owner where only the owner reads, and answers others
// only if others is set.
func (a answers) leaves(agent string, others bool) bool {
	for name, text := range a.Answers {
		own := name == "owner block" || name == "owner final"
		if sent := strings.HasPrefix(text, "ANSWER "); sent != (own || others) {
			return false
		}
	}
	return len(a.Answers) == 6 || agent != "openclaw"
}

// shims returns the shipped files that agents load.
func shims() map[string]string {
	return map[string]string{"openclaw": "openclaw/index.ts", "opencode": "opencode/floodmark.ts", "pi": "pi/floodmark.ts"}
}

// drive runs every handler of a shim, with serve behind the socket.
func drive(t *testing.T, agent, deadline string, serve func(net.Conn)) answers {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	if serve != nil {
		serving(t, socket, serve)
	}
	return driveAt(t, agent, socket, deadline)
}

// How long a shim waits for an answer, for tests with and without an answer.
const (
	long    = "20s"
	shortly = "300ms"
)

// driveAt runs every handler with a socket at that path.
func driveAt(t *testing.T, agent, socket, deadline string) answers {
	t.Helper()
	if *installed == "" {
		t.Skip("real agents are run by .ci/agents")
	}
	jiti := tool(t, "pi-"+piVersion, "node_modules", "jiti", "lib", "jiti.mjs")
	shim, err := filepath.Abs("../../integrations/" + shims()[agent])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := untilTimeout(t)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/drive.mjs", jiti, agent, shim)
	cmd.Env = append(os.Environ(), hookframe.SocketVariable+"="+socket, "FLOODMARK_HOOK_DEADLINE="+deadline)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var got answers
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v: %s %s", err, out, said.String())
	}
	return got
}

// serving passes every connection to a socket to serve, until the test ends.
func serving(t *testing.T, socket string, serve func(net.Conn)) {
	t.Helper()
	l := listen(t, socket)
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
	t.Cleanup(func() { _ = l.Close(); wait.Wait() })
}

type always floodmark.Verdict

func (v always) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Verdict(v), Reach: floodmark.Free}, Line: "because."}, nil
}

func answering(v floodmark.Verdict) func(net.Conn) {
	return func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, agents.Door{Hooks: always(v)}.Answer)
	}
}

// boxing allows every call, with another command.
func boxing(conn net.Conn) {
	door := agents.Door{Hooks: rewriting{always(floodmark.Allow), func(command string) string { return "box -- " + command }}, Rewrites: agents.NewRewrites()}
	_ = hookframe.Serve(context.Background(), conn, door.Answer)
}

func TestShimDoesAsItIsTold(t *testing.T) {
	for agent := range shims() {
		t.Run(agent, func(t *testing.T) {
			got := drive(t, agent, long, answering(floodmark.Allow))
			if agent == "openclaw" && !strings.HasSuffix(got.Answers["group final"], "LOADS") {
				t.Errorf("an answer that was allowed is another: %q", got.Answers)
			}
			if !got.leaves(agent, true) || !got.Message || got.Call != "" || !strings.Contains(got.Result, "RESULT") || !strings.Contains(got.Failed, "RESULT") || !got.Shell {
				t.Errorf("allowed: %+v", got)
			}
			if got.Ran != `{"command":"ls","timeout":7}` {
				t.Errorf("allowed: %s", got.Ran)
			}
			got = drive(t, agent, long, func(conn net.Conn) {
				_ = hookframe.Serve(context.Background(), conn, waited)
			})
			if got.Call != "" || got.Ran != `{"command":"ls","timeout":7}` {
				t.Errorf("a person was waited for: %+v", got)
			}
			if got = drive(t, agent, long, boxing); got.Ran != `{"command":"box -- ls","timeout":7}` || got.Call != "" {
				t.Errorf("with another command: %+v", got)
			}
			var heard sync.Map
			got = drive(t, agent, long, func(conn net.Conn) {
				_ = hookframe.Serve(context.Background(), conn, func(ctx context.Context, req hookframe.Request) hookframe.Response {
					heard.Store(req.Event, true)
					return agents.Door{Hooks: always(floodmark.Restrict)}.Answer(ctx, req)
				})
			})
			if _, ended := heard.Load("agent_end"); ended && agent == "openclaw" {
				t.Error("a run that did not begin has ended the turn")
			}
			if got.Aborted != (agent == "pi") {
				t.Error("a turn that was refused goes on")
			}
			if agent == "pi" && (got.Tools["completions"] != "nothing can be sent" || got.Tools["google"] != "nothing can be sent") {
				t.Errorf("after the end of the turn: %v", got.Tools)
			}
			if !got.closed() || got.Call != "floodmark: because." || !strings.Contains(got.Result, "floodmark: because.") {
				t.Errorf("refused: %+v", got)
			}
			got = drive(t, agent, long, func(conn net.Conn) {
				_ = hookframe.Serve(context.Background(), conn, agents.Door{Hooks: hiding{"bash", "exec"}}.Answer)
			})
			if want := withoutShell(agent); !maps.Equal(got.Tools, want) || got.Aborted {
				t.Errorf("without the shell: %+v, want %v", got, want)
			}
			got = drive(t, agent, long, func(conn net.Conn) {
				_ = hookframe.Serve(context.Background(), conn, agents.Door{Hooks: hiding{"bash", "exec", "read"}}.Answer)
			})
			endsAreTold(t, agent)
			if agent == "pi" && (got.Tools["completions"] != `{"messages":[{"role":"system","content":"PROMPT\n\nWARNING"},{"content":"PROMPT","tools":["bash"]}]}` ||
				got.Tools["bedrock"] != `{"system":[{"text":"PROMPT\n\nWARNING"}]}` || got.Tools["google"] != `{"contents":[{"name":"bash"}],"config":{"systemInstruction":"PROMPT\n\nWARNING"}}`) {
				t.Errorf("without any tool: %v", got.Tools)
			}
		})
	}
}

// endsAreTold checks what a plugin reports about the end of a round and of a run, and about answers
// that are not judged.
func endsAreTold(t *testing.T, agent string) {
	t.Helper()
	var ends sync.Map
	round, ended := context.WithCancel(t.Context())
	gone := drive(t, agent, long, func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, func(ctx context.Context, req hookframe.Request) hookframe.Response {
			ends.Store(req.Event, string(req.Raw))
			switch req.Event {
			case "reply_payload_sending":
				return hookframe.Refuse("no")
			case "turn_end":
				ended()
			}
			return agents.Door{Hooks: always(floodmark.Allow)}.Answer(ctx, req)
		})
	})
	if agent == "pi" {
		<-round.Done() // pi reports a round without waiting for an answer
	}
	ended()
	if own := gone.Answers["owner final"]; !gone.leaves(agent, false) || agent == "openclaw" && (!strings.HasPrefix(own, "ANSWER [x]") || !strings.Contains(own, "did not answer") || strings.Contains(own, "LOADS")) {
		t.Errorf("nobody judges answers: %+v", gone.Answers)
	}
	if last, ok := ends.Load("agent_end"); agent == "openclaw" && (!ok || !strings.Contains(last.(string), "agent:main:group")) {
		t.Errorf("the end of the last run was not told: %v", last)
	}
}

// closed reports whether the agent does nothing and shows nothing. OpenClaw then offers no tools.
func (a answers) closed() bool {
	shows := func(text string) bool { return text == "" || strings.Contains(text, "RESULT") }
	return !strings.Contains(a.Tools["openclaw"], "read") && !a.Message && a.Call != "" && !shows(a.Result) && !shows(a.Failed) && !a.Shell
}

// hiding allows everything and hides some tools.
type hiding []string

func (h hiding) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free, Hidden: h}, Warning: "WARNING"}, nil
}

// withoutShell returns what the model is offered if the shell is hidden: the shell is in no form of
// a request, and everything else is there.
func withoutShell(agent string) map[string]string {
	return map[string]map[string]string{
		"openclaw": {"openclaw": `["read"]`},
		"pi": {
			"completions": `{"messages":[{"role":"system","content":"PROMPT\n\nWARNING"},{"content":"PROMPT","tools":["bash"]}],"tools":[{"type":"function","function":{"name":"read"}}],"tool_choice":"auto"}`,
			"responses":   `{"input":[{"role":"developer","content":"PROMPT\n\nWARNING"},{"name":"bash"}],"tools":[{"type":"function","name":"read"}]}`,
			"anthropic":   `{"system":[{"type":"text","text":"bash"},{"type":"text","text":"PROMPT\n\nWARNING"}],"tools":[{"name":"Read"}]}`,
			"google":      `{"contents":[{"name":"bash"}],"config":{"systemInstruction":"PROMPT\n\nWARNING","tools":[{"functionDeclarations":[{"name":"read"}]}]}}`,
			"bedrock":     `{"system":[{"text":"PROMPT\n\nWARNING"}],"toolConfig":{"tools":[{"toolSpec":{"name":"read"}}],"toolChoice":{"auto":{}}}}`,
		},
	}[agent]
}

// Node takes a number for a port, and a relative name for a socket in the project's folder. The
// shims must not connect to either.
func TestShimAsksAtAbsolutePathsOnly(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			answering(floodmark.Allow)(conn)
		}
	})
	t.Cleanup(func() { _ = l.Close(); wait.Wait() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for agent := range shims() {
		if got := driveAt(t, agent, port, shortly); !got.closed() {
			t.Errorf("%s believed whoever answers at a port: %+v", agent, got)
		}
	}
}

// waited answers after it has reported several times that it waits for a person.
func waited(ctx context.Context, req hookframe.Request) hookframe.Response {
	waiting, judge := hookframe.Waiting(ctx)
	for range 3 {
		hookframe.Still(waiting)
	}
	ctx, done := judge()
	defer done()
	return agents.Door{Hooks: always(floodmark.Allow)}.Answer(ctx, req)
}

func TestShimIsClosedOnEveryFailure(t *testing.T) {
	t.Run("openclaw is first", openclawIsFirst)
	t.Run("pi has no prompt", piHasNoPrompt)
	t.Run("manifests are read", manifestsAreRead)
	t.Run("only true is caution", onlyTrueIsCaution)
	says := func(data []byte) func(net.Conn) {
		return func(conn net.Conn) {
			if _, err := hookframe.ReadRequest(conn); err != nil {
				t.Error(err)
			}
			_, _ = conn.Write(data)
		}
	}
	frame := func(body string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	}
	for name, serve := range map[string]func(net.Conn){
		"no daemon":     nil,
		"silent":        func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"slow":          func(conn net.Conn) { time.Sleep(500 * time.Millisecond); answering(floodmark.Allow)(conn) },
		"closes":        func(net.Conn) {},
		"garbage":       says([]byte("HTTP/1.1 200 OK\r\n\r\n")),
		"half":          says(frame(`{"v":1,"stdout":"{\"block\":false}","stderr":"","exit":0}`)[:30]),
		"no JSON":       says(frame(`hello`)),
		"null":          says(frame(`null`)),
		"newer":         says(frame(`{"v":2,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":"","exit":0}`)),
		"status":        says(frame(`{"v":1,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":"no","exit":2}`)),
		"no status":     says(frame(`{"v":1,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":""}`)),
		"empty":         says(frame(`{"v":1,"stdout":"","stderr":"","exit":0}`)),
		"nothing to do": says(frame(`{"v":1,"stdout":"{}","stderr":"","exit":0}`)),
		"no command":    says(frame(`{"v":1,"stdout":"{\"block\":true,\"command\":\"\"}","stderr":"","exit":0}`)),
		"no text":       says(frame(`{"v":1,"stdout":"{\"block\":true,\"command\":[\"ls\"]}","stderr":"","exit":0}`)),
		"yes, and none": says(frame(`{"v":1,"stdout":"{\"block\":false,\"command\":\"\"}","stderr":"","exit":0}`)),
		"yes, no text":  says(frame(`{"v":1,"stdout":"{\"block\":false,\"command\":[\"ls\"]}","stderr":"","exit":0}`)),
		"waits":         func(conn net.Conn) { says(frame(`{"v":1,"still":true}`))(conn); _, _ = io.Copy(io.Discard, conn) },
		"waits, closes": says(frame(`{"v":1,"still":true}`)),
		"waits, not so": says(append(frame(`{"v":1,"still":"true"}`), frame(`{"v":1,"stdout":"{\"block\":false,\"keep\":true,\"action\":\"continue\"}","stderr":"","exit":0}`)...)),
		"a word":        says(frame(`{"v":1,"stdout":"\"yes\"","stderr":"","exit":0}`)),
	} {
		within := long
		if name == "silent" || name == "slow" || name == "waits" {
			within = shortly
		}
		for agent := range shims() {
			t.Run(agent+" "+name, func(t *testing.T) {
				t.Parallel()
				if got := drive(t, agent, within, serve); !got.closed() || strings.Contains(fmt.Sprint(got.Answers), "ANSWER") {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// openclawIsFirst checks that no answer is sent if a daemon stops answering. OpenClaw sends what it
// has after its own timeout, so ours is shorter, whatever else is reported.
func openclawIsFirst(t *testing.T) {
	t.Helper()
	got := drive(t, "openclaw", shortly, func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, func(ctx context.Context, req hookframe.Request) hookframe.Response {
			if req.Event == "reply_payload_sending" || req.Event == "agent_end" {
				time.Sleep(3 * time.Second)
			}
			return agents.Door{Hooks: always(floodmark.Allow)}.Answer(ctx, req)
		})
	})
	if !got.Message || !got.leaves("openclaw", false) || strings.Contains(got.Answers["owner final"], "LOADS") {
		t.Errorf("%+v", got)
	}
}

// piHasNoPrompt checks that pi is judged as usual without a system prompt.
func piHasNoPrompt(t *testing.T) {
	t.Helper()
	t.Setenv("DRIVE_PROMPT", "")
	if got := drive(t, "pi", long, answering(floodmark.Allow)); got.Aborted || !strings.Contains(got.Tools["completions"], "bash") {
		t.Errorf("allowed: %+v", got)
	}
	if got := drive(t, "pi", long, answering(floodmark.Restrict)); !got.Aborted || got.Tools["completions"] != "nothing can be sent" {
		t.Errorf("a turn that was refused goes on: %+v", got)
	}
}

// manifestsAreRead checks what authors of plugins say about their tools. Neither a manifest that
// never ends nor one that names many tools keeps another manifest from being read.
func manifestsAreRead(t *testing.T) {
	t.Helper()
	plugins := t.TempDir()
	t.Setenv("DRIVE_PLUGIN", filepath.Join(plugins, "floodmark"))
	many := strings.Repeat(`"x",`, 255) + `"x"`
	for i := range 255 {
		many = strings.Replace(many, `"x"`, fmt.Sprintf(`"t%d"`, i), 1)
	}
	for name, tools := range map[string]string{"a-pipe": "", "b-many": many, "c-shell": `"exec"`} {
		file := filepath.Join(plugins, name, "openclaw.plugin.json")
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil && tools == "" {
			err = os.Symlink("/dev/zero", file)
		} else if err == nil {
			err = os.WriteFile(file, []byte(`{"contracts":{"tools":[`+tools+`]},"metadata":{"openclaw":{"caution":true}}}`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	heard := heardOfOpenclaw(t)
	for _, event := range []string{"before_tool_call", "tool_result"} {
		if raw, _ := heard.Load(event); !strings.Contains(fmt.Sprint(raw), `"caution":["exec"]`) {
			t.Errorf("%s: %v", event, raw)
		}
	}
}

// heardOfOpenclaw returns what the shim reports in a run in which everything is allowed, by event.
func heardOfOpenclaw(t *testing.T) *sync.Map {
	t.Helper()
	var heard sync.Map
	drive(t, "openclaw", long, func(conn net.Conn) {
		_ = hookframe.Serve(context.Background(), conn, func(ctx context.Context, req hookframe.Request) hookframe.Response {
			heard.Store(req.Event, string(req.Raw))
			return agents.Door{Hooks: always(floodmark.Allow)}.Answer(ctx, req)
		})
	})
	return &heard
}

// onlyTrueIsCaution checks that an author of a plugin can mark a tool with caution, in either
// place, and only with the value true.
func onlyTrueIsCaution(t *testing.T) {
	t.Helper()
	for about, want := range map[string]bool{
		`"toolMetadata":{"exec":{"caution":true}}`:                             true,
		`"toolMetadata":{"exec":{"metadata":{"openclaw":{"caution":true}}}}`:   true,
		`"toolMetadata":{"other":{"caution":true}}`:                            false,
		`"toolMetadata":{"exec":{"caution":"true"}}`:                           false,
		`"metadata":{"openclaw":{"caution":"true"}},"caution":true`:            false,
		`"metadata":{"openclaw":{"caution":1}},"toolMetadata":{"exec":[true]}`: false,
	} {
		plugins := t.TempDir()
		t.Setenv("DRIVE_PLUGIN", filepath.Join(plugins, "floodmark"))
		err := os.Mkdir(filepath.Join(plugins, "reader"), 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(plugins, "reader", "openclaw.plugin.json"), []byte(`{"contracts":{"tools":["exec","other"]},`+about+`}`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		heard := heardOfOpenclaw(t)
		if raw, ok := heard.Load("before_tool_call"); !ok || strings.Contains(fmt.Sprint(raw), `"caution":["exec"]`) != want {
			t.Errorf("%s: %v", about, raw)
		}
	}
}

// Each shim is a single file that its agent loads, so each has its own copy of the code that asks
// the daemon. The copies are the same.
func TestShimsAskInTheSameWay(t *testing.T) {
	want := shipped(t, "shim/exchange.ts")
	for agent, file := range shims() {
		_, rest, _ := strings.Cut(shipped(t, file), "// The next lines are those of ../shim/exchange.ts.\n")
		got, _, ok := strings.Cut(rest, "// The lines of ../shim/exchange.ts end here.\n")
		if !ok || got != want {
			t.Errorf("the copy of integrations/shim/exchange.ts in %s's %s differs", agent, file)
		}
	}
}
