package daemon

import (
	"net"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/internal/agents/speakers"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
)

// What service.yaml says about an agent reaches the door, and what the owner says
// in that agent's window reaches the journal.
func TestTheServiceLetsAnAgentAsk(t *testing.T) {
	for ask, want := range map[string]string{"": `"deny"`, config.AskNative: `"ask"`} {
		var native []string
		r := startWith(t, t.TempDir(), true, func(o *Options) {
			o.processes = func(s *speakers.Options) { native = s.Native }
			o.Service.Agents = map[string]config.Agent{"claude-code": {Ask: ask}}
		})
		say := func(event, more string) string {
			t.Helper()
			conn, err := new(net.Dialer).DialContext(t.Context(), "unix", r.paths.HookSocket)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			resp, err := hookframe.Ask(conn, hookframe.Request{
				V: hookframe.Version, Agent: "claude-code", Event: event, DeadlineMS: hookframe.MaxWait.Milliseconds(),
				Env: map[string]string{"HOME": "/home/dev", "CLAUDE_CODE_ENTRYPOINT": "cli"},
				Raw: []byte(`{"session_id":"s","cwd":"/home/dev/p","permission_mode":"default","hook_event_name":"` + event + `",` + more + `}`),
			})
			if err != nil {
				t.Fatal(err)
			}
			return resp.Stdout
		}
		if asks := len(native) > 0; asks != (ask == config.AskNative) {
			t.Errorf("ask %q: whoever watches the calls knows of %v", ask, native)
		}
		const call = `"tool_name":"Bash","tool_input":{"command":"rm ~/.codex/hooks.json"},"tool_use_id":"c1"`
		say("SessionStart", `"source":"startup"`)
		if got := say("PreToolUse", call); !strings.Contains(got, want) {
			t.Errorf("ask %q: %s", ask, got)
		}
		if ask == "" {
			continue
		}
		say("PostToolUse", call+`,"tool_response":"done"`)
		if answers := answered(t, r, "claude-code:s"); strings.Join(answers, ";") != "allow owner window of claude-code" {
			t.Errorf("answers %v", answers)
		}
	}
}

// answered is how the questions of a session ended. Nothing may have gone wrong.
func answered(t *testing.T, r *runner, id floodmark.SessionID) (answers []string) {
	t.Helper()
	for e, err := range r.d.store.Read(t.Context(), journal.Session{ID: id}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			t.Fatal(err)
		}
		switch f := f.(type) {
		case floodmark.TicketAnswered:
			answers = append(answers, f.Verdict.String()+" "+f.By+" "+f.Channel)
		case floodmark.IncidentSeen:
			t.Errorf("%+v", f)
		}
	}
	return answers
}
