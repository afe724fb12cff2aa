package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/monitor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A judge is a monitor that gives one reply and records its events.
type judge struct {
	reply hook.Reply
	err   error
	saw   []hook.Event
}

func (j *judge) Handle(_ context.Context, _ string, ev hook.Event) (hook.Reply, error) {
	j.saw = append(j.saw, ev)
	return j.reply, j.err
}

// message returns a captured message as its hook program would send it. A file is named after the
// agent and its event, such as codex.PreToolUse.mcp.json. If the event's own name has dots, the
// file's name has hyphens instead.
func message(t testing.TB, file string) hookframe.Request {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(filepath.Base(file), ".")
	return hookframe.Request{
		V: hookframe.Version, Agent: parts[0], Event: strings.ReplaceAll(parts[1], "-", "."), Raw: raw,
		Env: map[string]string{"HOME": "/home/dev"}, DeadlineMS: 10_000,
	}
}

func messages(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d captured messages, %v", len(files), err)
	}
	return files
}

// golden compares got with a file, or updates the file.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// The events made from captured messages of real agents.
func TestCapturedMessages(t *testing.T) {
	for _, file := range messages(t) {
		j := &judge{reply: allowed()}
		if resp := (agents.Door{Hooks: j}).Answer(t.Context(), message(t, file)); resp.Exit != 0 {
			t.Errorf("%s: %+v", file, resp)
		}
		got, err := json.MarshalIndent(j.saw, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, strings.TrimSuffix(strings.Replace(file, "testdata/", "testdata/events/", 1), ".json")+".golden", append(got, '\n'))
	}
}

func allowed() hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}
}

func refused(v floodmark.Verdict, line, todo string) hook.Reply {
	return hook.Reply{
		Decision: floodmark.Decision{Verdict: v, Reach: floodmark.Free, Remedy: floodmark.Remedy{Agent: todo}},
		Line:     line, Ticket: "t1",
	}
}

// verdicts returns the possible replies of a monitor.
func verdicts() map[string]*judge {
	return map[string]*judge{
		"allow":    {reply: allowed()},
		"confirm":  {reply: refused(floodmark.Confirm, "web page news.example (untrusted) -> Bash: waits for your approval. Approve it or deny it.", "Go on with what needs no approval.")},
		"restrict": {reply: refused(floodmark.Restrict, "web page news.example (untrusted) -> Bash: refused <\"here\">.", "Finish the task without it.")},
		"audit":    {reply: hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Audit}}},
		"zero":     {},
		"error":    {err: errors.New("disk full\nat once")},
		"late":     {err: context.DeadlineExceeded},
		"command":  {reply: boxed("box -- ls")},
		"boxed":    {reply: boxed("")},
		"known":    {err: &monitor.Refusal{Reason: "too much is happening at once", Hint: "Try again in a moment.", Err: errors.New("x")}},
		"consumed": {reply: hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}, Consumed: true, Notice: "Approved: Bash."}},
		"verifier": {reply: hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free, Verifiers: []string{"phone"}}}},
	}
}

// The answer to each agent, byte for byte.
func TestAnswers(t *testing.T) {
	var b strings.Builder
	for _, file := range messages(t) {
		req := message(t, file)
		if strings.Count(filepath.Base(file), ".") > 2 {
			continue // the same event again
		}
		all := verdicts()
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			resp := agents.Door{Hooks: all[name], Rewrites: agents.NewRewrites()}.Answer(t.Context(), req)
			b.WriteString(req.Agent + " " + req.Event + " " + name + ": exit " + string(rune('0'+resp.Exit)) + "\n")
			for _, out := range []string{"  stdout " + resp.Stdout, "  stderr " + resp.Stderr} {
				if out = strings.TrimSuffix(out, "\n"); len(out) > len("  stdout ") {
					b.WriteString(out + "\n")
				}
			}
			command := name == "command" && slices.Contains([]string{"PreToolUse", "BeforeTool", "preToolUse"}, req.Event) // calls of a shell
			if want := name == "allow" || name == "consumed" || command; want != lets(t, req, resp) && gates(req.Event) && asks(req.Event) && (name != "consumed" || !said(req.Event)) {
				t.Errorf("%s %s with %s: %+v", req.Agent, req.Event, name, resp)
			}
		}
	}
	golden(t, "testdata/answers.golden", []byte(b.String()))
}
