package contain

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
)

// maxLine is how long a command line may be that runs in a box, with all its quotes:
// it is one argument to the agent's shell, and the kernel takes 128 KB for one.
const maxLine = 96 << 10

// boxName is the program that makes boxes.
const boxName = "floodmark-box"

const repeatedLine = "this is how Floodmark starts a command in a box, and works once. Write the plain command instead, as if there were no box."

const repeatedNote = "a call that repeats the command of a box was refused; the model may have been shown it"

// ofRefusal reports what an agent gives back of a call that was refused here: our own words,
// if any, and little around them. Anything else is content, which the monitor has to see.
func ofRefusal(r hook.Result) bool {
	const around = 300
	said := strings.Contains(r.Text, repeatedLine) && len(r.Text) <= len(repeatedLine)+around
	return r.Error && (said || r.Text == "" && r.Digest.IsZero())
}

// commandOf returns the command line of a call that can be rewritten.
func commandOf(ev hook.Event) (string, bool) {
	var args struct {
		Command string `json:"command"`
	}
	if !agents.CanRewrite(ev.Agent, ev.Call) || json.Unmarshal(ev.Call.Args, &args) != nil {
		return "", false
	}
	quoted, err := agents.Quote([]string{args.Command})
	return args.Command, err == nil && len(quoted) <= maxLine
}

// repeats reports a command line that a model took from an earlier call of its own:
// some agents show it the one that ran.
func repeats(line string) bool {
	words := strings.Fields(line)
	const quotes = `'"\`
	return len(words) > 1 && filepath.Base(strings.Trim(words[0], quotes)) == boxName && strings.Trim(words[1], quotes) == "--ticket"
}

// inBackground reports a command that its agent lets run on after the call.
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
