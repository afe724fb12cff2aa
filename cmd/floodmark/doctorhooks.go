package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/hookframe"
)

// hookName is the program that agents start at each hook.
const hookName = "floodmark-hook"

// checkHooks looks at how agents find the monitor. Whoever can set an agent's
// variables must not be able to choose another one.
func (c *console) checkHooks(p config.Paths) []finding {
	var list []finding
	if v := c.getenv(hookframe.SocketVariable); v != "" {
		list = append(list, note("hooks", "unset it, and write «-socket "+shellWord(p.HookSocket)+"» into the agents' settings",
			"%s is set to %s: agents started from here look for the monitor there", hookframe.SocketVariable, v))
	}
	folder := c.getenv("CODEX_HOME")
	if folder == "" && c.getenv("HOME") != "" {
		folder = filepath.Join(c.getenv("HOME"), ".codex")
	}
	if folder == "" {
		return list
	}
	return append(append(list, checkCodexHooks(filepath.Join(folder, "hooks.json"))...), checkCodexVariables(filepath.Join(folder, ".env"))...)
}

// checkCodexHooks looks at the commands in Codex's settings.
func checkCodexHooks(file string) []finding {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []finding{note("hooks of Codex", "", "%s: %s", file, reason(err))}
	}
	words, err := hookWords(data)
	if err != nil {
		return []finding{wrong("hooks of Codex", "mend the file: integrations/codex has one that works", "%s is not JSON: Codex runs no hook", file)}
	}
	if len(words) == 0 {
		return nil
	}
	for _, word := range words {
		info, err := os.Stat(word)
		switch {
		case !filepath.IsAbs(word):
			return []finding{note("hooks of Codex", "write its full path", "%s starts «%s», which is found by PATH: whoever sets it chooses the program", file, word)}
		case err != nil || info.IsDir() || info.Mode().Perm()&0o111 == 0:
			return []finding{wrong("hooks of Codex", "install it there, or write where it is", "%s starts %s, which is no program: everything is refused", file, word)}
		case info.Mode().Perm()&0o022 != 0:
			return []finding{wrong("hooks of Codex", "chmod go-w "+shellWord(word), "others may write to %s", word)}
		}
	}
	return []finding{ok("hooks of Codex", "%s starts %s", file, words[0])}
}

// hookWords are the different words by which commands start our hook program.
func hookWords(settings []byte) ([]string, error) {
	var all any
	if err := json.Unmarshal(settings, &all); err != nil {
		return nil, err
	}
	var words []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if command, is := v["command"].(string); is {
				words = append(words, hookWord(command)...)
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
	slices.Sort(words)
	return slices.Compact(words), nil
}

func hookWord(command string) []string {
	for word := range strings.FieldsSeq(command) {
		if word = strings.Trim(word, `"'`); filepath.Base(word) == hookName {
			return []string{word}
		}
	}
	return nil
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
