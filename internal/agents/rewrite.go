package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// commandArgument holds the command line in the calls of every agent we know. Codex
// calls it «cmd» towards its model and «command» towards its hooks, and takes a
// text there for each of its shells.
const commandArgument = "command"

// CanRewrite reports whether an agent, told so by its hook, runs another command
// in place of the one in this call: the call is one command line that the agent
// starts in a shell of its own on this machine. Tools that write into a running
// program, or that are not known, cannot. It says what the agent is documented
// or was seen to do; whether the version that is installed does it, only
// «floodmark prove» shows.
func CanRewrite(agent string, c hook.Call) bool {
	_, err := rewritten(agent, c, "true")
	return err == nil
}

// CommandLine returns the command line of a call that can be rewritten.
func CommandLine(agent string, c hook.Call) (string, bool) {
	var args struct {
		Command string `json:"command"`
	}
	if !CanRewrite(agent, c) || json.Unmarshal(c.Args, &args) != nil {
		return "", false
	}
	return args.Command, true
}

// TellsNoEnd reports a call of which its agent says when it begins and never when it is over:
// Codex applies a patch that its shell would apply itself. It does nothing else meanwhile.
func TellsNoEnd(agent string, c hook.Call) bool {
	line, is := CommandLine(agent, c)
	words := strings.Fields(line)
	if len(words) > 3 && words[0] == "cd" && words[2] == "&&" {
		words = words[3:]
	}
	return is && floodmark.Program(agent) == codexName && len(words) > 0 && (words[0] == "apply_patch" || words[0] == "applypatch")
}

// GaveBack reports what an agent gives back of a call that was refused with a text: the text,
// if any, and little around it. Anything else is content, which the monitor has to see.
func GaveBack(r hook.Result, text string) bool {
	const around = 300
	said := strings.Contains(r.Text, text) && len(r.Text) <= len(text)+around
	return r.Error && (said || r.Text == "" && r.Digest.IsZero())
}

// A shellTool is the tool by which an agent runs a command line in a fresh shell.
type shellTool struct {
	name string
	// args are the arguments that change neither which shell starts, nor with which
	// variables, nor where: code could run before the command that we give. One
	// that is not here keeps the command from being replaced.
	args []string
}

func shellToolOf(agent string) shellTool {
	switch floodmark.Program(agent) {
	case claudeName:
		return shellTool{"Bash", []string{"description", "timeout", "run_in_background", "dangerouslyDisableSandbox"}}
	case codexName:
		// It tells of the command alone. Of the shell that its model names it takes the
		// kind, and looks for one of that kind itself.
		return shellTool{"Bash", nil}
	case copilotName:
		return shellTool{"bash", []string{"description", "shellId", "mode", "detach", "initial_wait"}}
	case cursorName:
		return shellTool{"Shell", []string{"description", "cwd", "working_directory", "timeout", "is_background", "block_until_ms"}}
	case geminiName:
		return shellTool{"run_shell_command", []string{"description", "dir_path", "is_background"}}
	case openclawName:
		return shellTool{"exec", []string{"title", "workdir", "yieldMs", "background", "timeoutSeconds", "timeout", "pty", "ask"}}
	case opencodeName:
		return shellTool{"bash", []string{"description", "timeout", "workdir"}}
	case piName:
		return shellTool{"bash", []string{"timeout"}}
	}
	return shellTool{}
}

// takes reports whether a call with this argument can be rewritten. What OpenClaw
// may be told is harmless if it says nothing: where no host is named its
// configuration decides, and a machine without our program starts nothing.
func (t shellTool) takes(m member) bool {
	switch m.name {
	case commandArgument:
		return true
	case "host", "node", "elevated", "env":
		return t.name == "exec" && slices.Contains([]string{"null", `""`, "false", "{}", `"auto"`, `"gateway"`}, string(m.value))
	}
	return slices.Contains(t.args, m.name)
}

var errCannotRewrite = errors.New("the agent cannot be told to run another command in its place")

// rewritten returns the arguments of a call with another command and everything
// else byte for byte as it was.
func rewritten(agent string, c hook.Call, command string) (json.RawMessage, error) {
	tool := shellToolOf(agent)
	if tool.name == "" || c.Server != "" || c.Name != tool.name {
		return nil, errCannotRewrite
	}
	args, err := ordered(c.Args)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCannotRewrite, err)
	}
	if i := slices.IndexFunc(args, func(m member) bool { return !tool.takes(m) }); i >= 0 {
		return nil, fmt.Errorf("%w: %q may change what runs", errCannotRewrite, floodmark.OneLine(args[i].name, maxNamed))
	}
	i := slices.IndexFunc(args, func(m member) bool { return m.name == commandArgument })
	var was string
	if i < 0 || json.Unmarshal(args[i].value, &was) != nil || args[i].value[0] != '"' {
		return nil, fmt.Errorf("%w: its command is no text", errCannotRewrite)
	}
	return slices.Concat(c.Args[:args[i].end-len(args[i].value)], json.RawMessage(object(command)), c.Args[args[i].end:]), nil
}

// maxNamed bounds what is told of an argument's name.
const maxNamed = 40

// A member is one of an object's, its value as it was written, and where that ends.
type member struct {
	name  string
	value json.RawMessage
	end   int
}

// ordered takes an object apart. A name that is there twice is refused: an agent
// may run the one that we do not replace.
func ordered(raw json.RawMessage) ([]member, error) {
	if _, err := (hook.Call{Args: raw}).Leaves(); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil, errors.New("the arguments are no object")
	}
	var list []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		text, _ := name.(string) // the names of an object are nothing else
		m := member{name: text}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		m.end = int(dec.InputOffset())
		list = append(list, m)
	}
	return list, nil
}

// maxRewritten bounds arguments that go back to an agent: twice as much, in the
// worst spelling, fits an answer.
const maxRewritten = 256 << 10

// rewrite puts the command of a reply in the place of the call's own. Where that
// cannot be done the call is refused: what was allowed is the other command.
func (d Door) rewrite(about asked, a answer) (asked, answer) {
	command := a.reply.Command
	if a.why != "" || command == "" {
		return about, a
	}
	call := about.event.Call
	args, err := rewritten(about.event.Agent, call, command)
	switch {
	case err == nil && d.Rewrites == nil, err == nil && about.second:
		err = errCannotRewrite
	case err == nil && len(args) > maxRewritten:
		err = fmt.Errorf("%w: its arguments have %d bytes, at most %d", errCannotRewrite, len(args), maxRewritten)
	}
	if err != nil {
		a.why = "this command may only run inside a box, and " + err.Error() + ". Run it as a plain command of its own."
		return about, a
	}
	a.args = args
	if about.double != "" {
		about.double = cursorDoes(hook.Call{Name: call.Name, Args: args})
	}
	d.Rewrites.add(about.event.Session, command, call)
	return about, a
}

// Rewrites remembers calls whose command was replaced, until their results
// arrive: agents report those with the command that ran, and some name a call by
// its arguments. The call that was judged is the one the model made. It is safe
// for concurrent use; nil replaces nothing.
type Rewrites struct {
	mu   sync.Mutex // guards what is below
	made map[rewrite]hook.Call
}

// A rewrite is named by the command that was given: an agent may spell the
// arguments around it in another way.
type rewrite struct {
	session floodmark.SessionID
	command string
}

// maxRewrites bounds what is remembered. Beyond it all is forgotten: then a result
// belongs to no call that was judged, which is an incident.
const maxRewrites = 4096

// NewRewrites returns one that knows no call.
func NewRewrites() *Rewrites { return &Rewrites{made: map[rewrite]hook.Call{}} }

func (r *Rewrites) add(s floodmark.SessionID, command string, call hook.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.made) >= maxRewrites {
		clear(r.made)
	}
	r.made[rewrite{s, command}] = call
}

// judged returns the call that a result belongs to, as it was judged. A result of
// another command than one that was given keeps its call: the agent ran
// something else, and says so.
func (r *Rewrites) judged(ev hook.Event) hook.Call {
	if r == nil || ev.Point != hook.AfterToolCall {
		return ev.Call
	}
	args, err := members(ev.Call.Args)
	if err != nil {
		return ev.Call
	}
	command, err := args.text(commandArgument)
	if err != nil {
		return ev.Call
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	was, known := r.made[rewrite{ev.Session, command}]
	same := was.ID == ev.Call.ID || isMade(was.ID) && isMade(ev.Call.ID)
	if !known || !same || was.Name != ev.Call.Name || was.Server != ev.Call.Server {
		return ev.Call
	}
	delete(r.made, rewrite{ev.Session, command})
	return was
}

// isMade reports whether we named a call, because its agent does not.
func isMade(id floodmark.CallID) bool { return strings.HasPrefix(string(id), madePrefix) }
