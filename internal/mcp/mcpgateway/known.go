package mcpgateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
)

// known is what was learned of both sides so far. It is safe for concurrent use.
type known struct {
	mu sync.Mutex // guards what is below
	// tools are the tools that the server has listed, by name. listed says that the list is complete
	// as far as we know.
	tools  map[string]tool
	listed bool
	more   bool // there were more than we keep
	// round counts the lists that began at their first page. changes counts how often the server
	// said that its tools changed. since is the value of changes when the list of this round began.
	round, changes, since int
	// held has the prompts and templates that are held, each with the line that says why.
	held map[string]string
	// resources are the addresses the server has listed.
	resources map[string]bool
	// hidden are the tools that the client was not shown because of the mark.
	hidden []string
	// texts are the definitions that the client was shown and the owner has not accepted.
	texts map[string]string
	told  bool // the definitions were told to the monitor before the first call
	tasks map[string]*call
	// meta is what the client says of itself with every request; nil if it does not.
	meta json.RawMessage
	// states are the values that the server gave the client to return with a later request.
	states []string
	// cursors are digests of the cursors that the server gave.
	cursors []floodmark.Digest
}

// A tool is a tool that a server has listed.
type tool struct {
	hints *hook.Hints
	// arguments are the names its schema declares.
	arguments []string
	// held is why the client is not shown the tool; empty if it is shown.
	held  string
	round int // of the last list that had the tool
}

func newKnown() known {
	return known{tools: map[string]tool{}, resources: map[string]bool{}, held: map[string]string{}, texts: map[string]string{}, tasks: map[string]*call{}}
}

// tool returns what is known of a tool. If the server has listed more tools than are kept, it
// returns an unknown tool as held, because its definition may be held.
func (k *known) tool(name string) tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok := k.tools[name]
	if !ok && k.more {
		t.held = fmt.Sprintf("floodmark: the server has more than %d tools, and this is none of the first.", MaxTools)
	}
	return t
}

// isListed reports whether the tools were listed, and no change was announced since.
func (k *known) isListed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.listed
}

func (k *known) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed = false
	k.changes++
}

// begin notes that a list begins at its first page, and how many changes were announced before.
func (k *known) begin(changes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.round++
	k.since = changes
}

// all notes that the server has listed all its tools, unless it announced a change meanwhile.
func (k *known) all() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed = k.changes == k.since
}

// soFar returns how often the server said that its tools changed.
func (k *known) soFar() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes
}

// learn notes a tool. A tool that is twice in a list, and held once, is held.
func (k *known) learn(name string, t tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was, there := k.tools[name]
	if !there && len(k.tools) >= MaxTools {
		k.more = true
		return
	}
	if t.round = k.round; there && was.round == t.round && was.held != "" {
		return
	}
	k.tools[name] = t
}

// hold notes whether a prompt or template is held, and why.
func (k *known) hold(name, line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if delete(k.held, name); line != "" && len(k.held) < MaxTools {
		k.held[name] = line
	}
}

// isHeld returns why a prompt or template is held.
func (k *known) isHeld(kind, name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[kind+" "+name]
}

// resource notes the address of a resource that the server has listed.
func (k *known) resource(uri string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.resources) < MaxTools {
		k.resources[uri] = true
	}
}

// isResource reports whether the server has listed a resource.
func (k *known) isResource(uri string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.resources[uri]
}

// hide notes the hidden tools and reports whether they differ from before.
func (k *known) hide(names []string) bool {
	slices.Sort(names)
	k.mu.Lock()
	defer k.mu.Unlock()
	other := !slices.Equal(k.hidden, names)
	k.hidden = names
	return other
}

// offered returns the tools the client may know of.
func (k *known) offered(server string) []hook.Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []hook.Tool
	for name, t := range k.tools {
		if t.held == "" && len(list) < hook.MaxTools {
			list = append(list, hook.Tool{Server: server, Name: name, Hints: t.hints})
		}
	}
	slices.SortFunc(list, func(a, b hook.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// definitions returns, as one text, the definitions the client was shown and the owner has not
// accepted.
func (k *known) definitions() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	names := make([]string, 0, len(k.texts))
	for name := range k.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(k.texts[name])
		b.WriteByte('\n')
	}
	return b.String()
}

// show keeps the text of a definition for the monitor. If accepted, it drops the text, because the
// owner has accepted the definition or the client is not shown it.
func (k *known) show(name, body string, accepted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if accepted {
		delete(k.texts, name)
		return
	}
	if len(k.texts) < 2*MaxTools {
		k.texts[name] = body
	}
}

// first returns true once: before the first call, the definitions must be told to the monitor.
func (k *known) first() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.told
	k.told = true
	return !was
}

// untold makes first return true again.
func (k *known) untold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told = false
}

// maxStates bounds the states, the tasks and the cursors that are remembered.
const maxStates = 1024

// state remembers a value that the server gave the client to return.
func (k *known) state(s string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.states) >= maxStates {
		k.states = k.states[1:]
	}
	k.states = append(k.states, s)
}

func (k *known) isState(s string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.states, s)
}

// task remembers which call a task belongs to. Beyond the limit, new tasks are not remembered.
func (k *known) task(id string, c *call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tasks) < maxStates {
		k.tasks[id] = c
	}
}

func (k *known) ofTask(id string) *call {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tasks[id]
}

// request notes what the client says of itself with a request.
func (k *known) request(params json.RawMessage) {
	list, err := strictjson.Members(params)
	if err != nil {
		return
	}
	meta, err := strictjson.Members(strictjson.Value(list, "_meta"))
	if err != nil {
		return
	}
	var own []strictjson.Member
	for _, m := range meta {
		if strings.HasPrefix(m.Key, "io.modelcontextprotocol/") {
			own = append(own, m)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(own) > 0 {
		k.meta = strictjson.Object(own)
	}
}

// perRequest returns what the client says of itself with every request, for requests of ours.
func (k *known) perRequest() json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.meta
}
