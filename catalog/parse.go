package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// The limits on what one file says.
const (
	MaxTools = 4096
	MaxArgs  = 256
	MaxCases = 256
	MaxGlobs = 4096
)

// A File is one valid catalog file.
type File struct {
	name     string
	profiles []*Profile
	commands []*commandbook.Entry
	globals  map[string]map[string]commandbook.Role
	globs    []pathGlob
	offline  []string
	hosts    []string
	watch    watch
	digest   floodmark.Digest
	warnings floodmark.Problems
}

// Name returns the name the file was read under.
func (f *File) Name() string { return f.name }

// Hash identifies the exact content of the file.
func (f *File) Hash() floodmark.Digest { return f.digest }

// Profiles returns the file's profiles, in order.
func (f *File) Profiles() []*Profile { return slices.Clone(f.profiles) }

// Warnings returns problems that are allowed but probably not intended.
func (f *File) Warnings() floodmark.Problems { return slices.Clone(f.warnings) }

// Parse reads one catalog file. The error is [floodmark.Problems]: everything that is wrong with
// the file, each with its position and a correction.
func Parse(name string, data []byte) (*File, error) {
	r := &reader{file: name}
	f := &File{name: name, digest: floodmark.DigestOf(string(data))}
	if top := r.document(data); top != nil {
		r.top(f, top)
	}
	return r.done(f)
}

// ParseTools reads the elements of a list of tools inside another file, such as a policy. There
// each tool names its own agent or server.
func ParseTools(name string, list *yaml.Node) (*File, error) {
	r := &reader{file: name}
	f := &File{name: name}
	if text, err := yaml.Marshal(list); err == nil {
		f.digest = floodmark.DigestOf(string(text))
	}
	if r.sound(list, 0) {
		r.tools(f, list, defaults{})
	}
	for i, p := range f.profiles {
		if i >= len(list.Content) || len(list.Content) != len(f.profiles) {
			break // the file is incomplete, and so invalid
		}
		if text, err := yaml.Marshal(list.Content[i]); err == nil {
			p.written = floodmark.DigestOf(string(text))
		}
	}
	return r.done(f)
}

func (r *reader) done(f *File) (*File, error) {
	if r.problems.Failed() {
		return nil, r.problems
	}
	f.warnings = r.problems
	return f, nil
}

// defaults hold for all tools of a file.
type defaults struct {
	agents, servers []string
	own, remote     bool
}

func (r *reader) top(f *File, n *yaml.Node) {
	fs := r.fields(n, "a catalog file", "agent", "server", "about", "own", "remote", "tools", "commands", "offline", "hosts", "paths", "self")
	d := r.owner(n, fs, defaults{})
	if a, ok := fs["about"]; ok {
		r.text(a.value, "about")
	}
	if t, ok := fs["tools"]; ok {
		r.tools(f, t.value, d)
	}
	if c, ok := fs["commands"]; ok {
		r.commandList(f, c.value)
	}
	if o, ok := fs["offline"]; ok {
		f.offline = valuesOf(r.texts(o.value, "offline"))
	}
	if h, ok := fs["hosts"]; ok {
		f.hosts = r.hosts(h.value, "hosts")
	}
	if p, ok := fs["paths"]; ok {
		r.pathLists(f, p.value)
	}
	if s, ok := fs["self"]; ok {
		r.watched(f, s.value)
	}
	if len(f.profiles)+len(f.commands)+len(f.globs)+len(f.globals)+len(f.offline)+len(f.hosts) == 0 && f.watch.empty() && !r.problems.Failed() {
		r.fail(n, "missing-key", "add tools:, commands: or paths:", "the file says nothing")
	}
}

// owner reads the agents or servers of the tools, and the defaults.
func (r *reader) owner(n *yaml.Node, fs map[string]field, d defaults) defaults {
	agent, hasAgent := fs["agent"]
	server, hasServer := fs["server"]
	if hasAgent && hasServer {
		r.fail(server.key, "conflict", "use two entries", "tools belong to an agent or to a server, not to both")
	}
	if hasAgent {
		d.agents, d.servers = r.names(agent.value, "agent"), nil
	}
	if hasServer {
		d.servers, d.agents = r.names(server.value, "server"), nil
	}
	if own, ok := fs["own"]; ok {
		d.own = r.flag(own.value, "own")
	}
	if remote, ok := fs["remote"]; ok {
		d.remote = r.flag(remote.value, "remote")
	}
	return d
}

// names reads names of agents, servers or tools.
func (r *reader) names(n *yaml.Node, what string) []string {
	nodes := r.texts(n, what)
	for _, n := range nodes {
		name := n.Value
		if len(name) > hook.MaxNameBytes || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			r.fail(n, "wrong-name", "", "%s %q is no name: it is too long or has spaces", what, shorten(name))
		}
		if star := strings.IndexByte(name, '*'); star >= 0 && (what != "tool" || star != len(name)-1) {
			r.fail(n, "wrong-name", "a «*» may only end the name of a tool", "%s %q has a «*»", what, shorten(name))
		}
	}
	return valuesOf(nodes)
}

func (r *reader) tools(f *File, list *yaml.Node, d defaults) {
	items := r.items(list, "tools")
	if len(items) > MaxTools {
		r.fail(list, "too-large", "split the file", "there are %d tools, at most %d are read", len(items), MaxTools)
		return
	}
	seen := map[key]bool{}
	for _, item := range items {
		if p := r.tool(item, d); p != nil {
			r.unique(item, p, seen)
			f.profiles = append(f.profiles, p)
		}
	}
}

// unique refuses a second profile for the same tool.
func (r *reader) unique(n *yaml.Node, p *Profile, seen map[key]bool) {
	for _, tool := range p.tools {
		for _, k := range p.keys(tool) {
			if seen[k] {
				r.fail(n, "duplicate-tool", "join the two, with cases under when:", "tool %q of %q is described twice", tool, k.owner)
			}
			seen[k] = true
		}
	}
}

func (p *Profile) keys(tool string) []key {
	var out []key
	for _, a := range p.agents {
		out = append(out, key{owner: a, tool: tool})
	}
	for _, s := range p.servers {
		out = append(out, key{server: true, owner: s, tool: tool})
	}
	return out
}

func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
