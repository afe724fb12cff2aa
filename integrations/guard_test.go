package integrations_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commands returns the hooks of a settings file, by agent and event.
func commands(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	found := map[string]string{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				text, is := inner.(string)
				if _, rest, ours := strings.Cut(text, "floodmark-hook "); is && ours && (name == "command" || name == "bash") {
					words := strings.Fields(strings.ReplaceAll(rest, ")", " "))
					if words[0] == "-person" {
						words = words[2:]
					}
					found[words[0]+" "+words[1]] = text
				}
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

// The guards find no program by PATH, because an agent's variables could change PATH. The only
// exception is the hook itself in the fragment.
func TestGuardsFindNothingByPath(t *testing.T) {
	files, err := filepath.Glob("*/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		for event, command := range commands(t, file) {
			if strings.Contains(strings.ReplaceAll(command, "/usr/bin/timeout", ""), "timeout") || strings.Contains(command, "//") {
				t.Errorf("%s %s: %s", file, event, command)
			}
		}
	}
}
