package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/hookframe"
)

// checkHooks looks at the variables by which agents find the monitor. Whoever
// can set them must not be able to choose another one.
func (c *console) checkHooks(p config.Paths) []finding {
	var list []finding
	if v := c.getenv(hookframe.SocketVariable); v != "" {
		list = append(list, note("hooks", "unset it: «floodmark protect» writes «-socket "+shellWord(p.HookSocket)+"» into the agents' settings",
			"%s is set to %s: agents started from here look for the monitor there", hookframe.SocketVariable, v))
	}
	folder := c.getenv("CODEX_HOME")
	if folder == "" && c.getenv("HOME") != "" {
		folder = filepath.Join(c.getenv("HOME"), ".codex")
	}
	if folder == "" {
		return list
	}
	return append(list, checkCodexVariables(filepath.Join(folder, ".env"))...)
}

// choosing reports whether a variable chooses the program or the monitor, or
// what runs before them.
func choosing(name string) bool {
	return slices.Contains([]string{"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "BASH_ENV", "ENV", "ZDOTDIR", "SHELL"}, name) ||
		strings.HasPrefix(name, "FLOODMARK_") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// checkCodexVariables looks at the file from which Codex takes variables.
func checkCodexVariables(file string) []finding {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil // there is none, or it is nobody's
	}
	for line := range strings.Lines(string(data)) {
		name, _, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if name = strings.TrimSpace(name); found && choosing(name) {
			return []finding{wrong("variables of Codex", "take it out, unless you put it there", "%s sets %s, which can choose another hook program or monitor", file, name)}
		}
	}
	return nil
}
