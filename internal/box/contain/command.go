package contain

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
)

// maxLine bounds the command line of a box, quoted: it is passed to the agent's shell as one
// argument, and the kernel accepts 128 KB for one.
const maxLine = 96 << 10

// boxName is the program that makes boxes.
const boxName = "floodmark-box"

const repeatedLine = "this is how Floodmark starts a command in a box, and works once. Write the plain command instead, as if there were no box."

const repeatedNote = "a call that repeats the command of a box was refused; the model may have been shown it"

// commandOf returns the command line of a call that can be rewritten, if it fits.
func commandOf(ev hook.Event) (string, bool) {
	line, is := agents.CommandLine(ev.Agent, ev.Call)
	if !is {
		return "", false
	}
	quoted, err := agents.Quote([]string{line})
	return line, err == nil && len(quoted) <= maxLine
}

// repeats reports whether a model copied the command line from an earlier call of its own. Some
// agents show it the rewritten command that ran.
func repeats(line string) bool {
	words := strings.Fields(line)
	const quotes = `'"\`
	return len(words) > 1 && filepath.Base(strings.Trim(words[0], quotes)) == boxName && strings.Trim(words[1], quotes) == "--ticket"
}

// inBackground reports whether the agent lets the command of a call run on after the call.
func inBackground(c hook.Call) bool {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Args, &args) != nil {
		return false
	}
	for _, name := range []string{"run_in_background", "is_background", "background", "detach"} {
		var on bool
		if json.Unmarshal(args[name], &on) == nil && on {
			return true
		}
	}
	return false
}
