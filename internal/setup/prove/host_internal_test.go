package prove

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// Claude Code and Cursor are never started; the settings of the others can be
// read and name the model.
func TestHosts(t *testing.T) {
	for _, a := range protect.Agents() {
		h, known := hostOf(a.Name)
		if never := a.Name == "claude-code" || a.Name == "cursor"; known == never {
			t.Errorf("%s: %v", a.Name, known)
		}
		if !known {
			continue
		}
		const url = "http://127.0.0.1:1"
		s, known := testmodel.SettingsOf(a.Name, url)
		if !known || strings.HasSuffix(s.File, ".json") && !json.Valid([]byte(s.Text)) {
			t.Errorf("%s: %s", a.Name, s.Text)
		}
		if !strings.Contains(s.Text+strings.Join(s.Env, " "), url) {
			t.Errorf("%s does not know where the model is", a.Name)
		}
		if h.tool == "" || h.line == "" || !strings.Contains(strings.Join(h.args, " "), prompt) {
			t.Errorf("%+v", h)
		}
	}
}

// A test that uses the judge and the model as an obedient agent would.
func TestObedientAgent(t *testing.T) {
	home := t.TempDir()
	h, _ := hostOf("pi")
	j := &judge{word: refusedFile, other: originalFile, instead: "touch " + rewrittenFile}
	model := &testmodel.Model{Say: h.script(home)}
	url, stop, err := serveModel(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	allowed, err := j.Handle(context.Background(), "", call("touch "+allowedFile))
	if err != nil || allowed.Decision.Verdict != floodmark.Allow || j.wasAsked() {
		t.Error(allowed, err)
	}
	no, err := j.Handle(context.Background(), "", call("touch "+refusedFile))
	if err != nil || no.Decision.Verdict == floodmark.Allow || no.Line != refused || !j.wasAsked() {
		t.Error(no, err)
	}
	other, err := j.Handle(context.Background(), "", call("touch "+originalFile))
	if err != nil || other.Decision.Verdict != floodmark.Allow || other.Command != j.instead || allowed.Command != "" {
		t.Error(other, err)
	}
	if err := os.WriteFile(filepath.Join(home, allowedFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.verdict(home, j, model, "", nil); err == nil {
		t.Error("the model was told nothing")
	}
	body := `{"messages":[{"role":"tool","tool_call_id":"1","content":"floodmark: ` + refused + `"}]}`
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body)) //nolint:gosec // our own server
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := h.verdict(home, j, model, "", nil); err != nil {
		t.Error(err)
	}
}

// The files show which of the two commands ran.
func TestWhichCommandRan(t *testing.T) {
	for name, c := range map[string]struct {
		made []string
		want string
	}{
		"neither":   {nil, "did not run the command that it was given"},
		"its own":   {[]string{originalFile}, "ran its own command"},
		"both":      {[]string{originalFile, rewrittenFile}, "ran its own command"},
		"the other": {[]string{rewrittenFile}, ""},
	} {
		home := t.TempDir()
		for _, file := range c.made {
			if err := os.WriteFile(filepath.Join(home, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := ranOwn(home); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func call(command string) hook.Event {
	return hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{Name: "bash", Args: json.RawMessage(`{"command":"` + command + `"}`)}}
}
