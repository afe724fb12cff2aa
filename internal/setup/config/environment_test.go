package config

import (
	"encoding/json"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// What sets an agent's variables chooses its hook program and its monitor, and
// what the shell around a hook reads runs before it: both are guarded like the
// hook settings. Other files of the same name are not.
func TestWhatChoosesTheMonitorIsGuarded(t *testing.T) {
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"~/.codex/.env":                      true,
		"/srv/app/.codex/.env":               true,
		"~/.gemini/.env":                     true,
		"~/.openclaw/.env":                   true,
		"~/.config/environment.d/50-fm.conf": true,
		"/etc/environment":                   true,
		"~/.profile":                         true,
		"~/.bash_profile":                    true,
		"~/.zshenv":                          true,
		"/srv/app/.env":                      false,
		"/srv/app/profile":                   false,
	} {
		args, err := json.Marshal(map[string]string{"command": "rm " + path})
		if err != nil {
			t.Fatal(err)
		}
		leaves, err := hook.Call{Args: args}.Leaves()
		if err != nil {
			t.Fatal(err)
		}
		use := c.Classify(floodmark.ToolRef{Agent: "openclaw", Name: "exec"}, leaves, nil, catalog.Places{Project: "/srv/app", Home: "/home/u"})
		if use.SelfProtected != want {
			t.Errorf("%s: guarded %v, want %v", path, use.SelfProtected, want)
		}
	}
}
