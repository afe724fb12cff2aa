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

// commandArgument is the argument with the command line in the calls of all supported agents. Codex
// calls it «cmd» towards its model and «command» towards its hooks; for each of its shells it is a
// text there.
const commandArgument = "command"

// CanRewrite reports whether an agent can be told by its hook to run another command instead of the
// one in this call. That is so if the call is one command line that the agent starts in a new shell
// on this machine. It is not so for tools that write into a running program, and for unknown tools.
// This is what the agent is documented to do, or was seen to do. Only «floodmark prove» shows
// whether the installed version does.
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

// TellsNoEnd reports whether an agent reports the beginning of a call but not its end. Codex does
// so if the command applies a patch, because it applies the patch itself. It does nothing else
// meanwhile.
func TellsNoEnd(agent string, c hook.Call) bool {
	line, is := CommandLine(agent, c)
	words := strings.Fields(line)
	if len(words) > 3 && words[0] == "cd" && words[2] == "&&" {
		words = words[3:]
	}
	return is && floodmark.Program(agent) == codexName && len(words) > 0 && (words[0] == "apply_patch" || words[0] == "applypatch")
}

// GaveBack reports whether the result of a refused call has only the text of the refusal, with
// little around it, or nothing at all. Anything else is content, which the monitor has to see.
func GaveBack(r hook.Result, text string) bool {
	const around = 300
	said := strings.Contains(r.Text, text) && len(r.Text) <= len(text)+around
	return r.Error && (said || r.Text == "" && r.Digest.IsZero())
}

// A shellTool is the tool by which an agent runs a command line in a new shell.
type shellTool struct {
	name string
	// args are the arguments that change neither the shell nor its variables nor its folder. With
	// any other argument the command is not replaced, because code could run before our command.
	args []string
}

func shellToolOf(agent string) shellTool {
	switch floodmark.Program(agent) {
	case claudeName:
		return shellTool{"Bash", []string{"description", "timeout", "run_in_background", "dangerouslyDisableSandbox"}}
	case codexName:
		// Codex reports only the command. If the model names a shell, Codex uses only its kind, and
		// finds a shell of that kind itself.
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

// takes reports whether a call with this argument can be rewritten. Optional arguments of OpenClaw
// are harmless if they are empty: without a named host its configuration decides, and a machine
// without our program starts nothing.
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

// rewritten returns the arguments of a call with another command. Everything else stays the same,
// byte for byte.
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

// maxNamed bounds an argument's name in an error.
const maxNamed = 40

// A member is one member of an object: its name, its raw value, and where the value ends.
type member struct {
	name  string
	value json.RawMessage
	end   int
}

// ordered splits an object into its members. It refuses a repeated name, because an agent may run
// the value that we do not replace.
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
		text, _ := name.(string) // an object's names are strings
		m := member{name: text}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		m.end = int(dec.InputOffset())
		list = append(list, m)
	}
	return list, nil
}

// maxRewritten bounds arguments that are sent back to an agent. Even if escaping doubles them, they
// fit into an answer.
const maxRewritten = 256 << 10

// rewrite replaces the command of a call by the command of the reply. If that is impossible, it
// refuses the call, because only the other command was allowed.
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

// Rewrites remembers calls whose command was replaced, until their results arrive. Agents report a
// result with the command that ran, and some identify a call by its arguments. But the judged call
// is the one that the model made. Rewrites is safe for concurrent use. With a nil Rewrites no
// command is replaced.
type Rewrites struct {
	mu   sync.Mutex // guards what is below
	made map[rewrite]hook.Call
}

// A rewrite identifies a call by its new command, because an agent may reformat the other
// arguments.
type rewrite struct {
	session floodmark.SessionID
	command string
}

// maxRewrites bounds the remembered calls. Beyond it all are dropped, and their results belong to
// no judged call, which is an incident.
const maxRewrites = 4096

// NewRewrites returns an empty memory.
func NewRewrites() *Rewrites { return &Rewrites{made: map[rewrite]hook.Call{}} }

func (r *Rewrites) add(s floodmark.SessionID, command string, call hook.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.made) >= maxRewrites {
		clear(r.made)
	}
	r.made[rewrite{s, command}] = call
}

// judged returns the call to which a result belongs. If the result is not of a command of ours,
// judged returns the call in the result, because that is what the agent ran.
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

// isMade reports whether [madeID] made an id, because the agent's call has none.
func isMade(id floodmark.CallID) bool { return strings.HasPrefix(string(id), madePrefix) }
