package catalog

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/text/address"
)

//go:embed data/*.yaml
var data embed.FS

// A Catalog is all that is known about tools. It is immutable and safe for use by many goroutines.
type Catalog struct {
	layers   []*layer // the user's before the shipped one
	entries  []*commandbook.Entry
	globals  map[string]map[string]commandbook.Role
	commands *commandbook.Commands
	offline  []string // programs that have no code for the network
	hosts    []string // of documentation and packages
	paths    paths
	watch    watch
	hash     floodmark.Digest
	tables   floodmark.Digest   // the digest of the files that describe commands and paths
	unknown  []floodmark.Effect // what an undescribed tool does
	licences [floodmark.Observe + 1][]string
}

// Shipped returns the catalog that comes with the program.
func Shipped() (*Catalog, error) {
	files, err := readFolder(data, "data")
	if err != nil {
		return nil, fmt.Errorf("read shipped catalog: %w", err)
	}
	return New(files, nil), nil
}

// readFolder reads every file in a folder, in the order of their names.
func readFolder(disk embed.FS, folder string) ([]*File, error) {
	entries, err := disk.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := make([]*File, 0, len(entries))
	for _, e := range entries {
		text, err := disk.ReadFile(path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		f, err := Parse(e.Name(), text)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// New returns a catalog in which the user's files take precedence over the shipped one, and earlier
// files over later ones. Lists of paths are joined: a user can add to them but not remove; only
// scratch and plain names permit anything. Shipped may be nil.
func New(user []*File, shipped *Catalog) *Catalog {
	c := &Catalog{layers: []*layer{newLayer(user)}, unknown: []floodmark.Effect{floodmark.Run}}
	for e := range c.licences {
		c.licences[e] = defaultLicence(floodmark.Effect(e))
	}
	var below, tables []byte
	var more []*commandbook.Entry
	globals := map[string]map[string]commandbook.Role{}
	if shipped != nil {
		maps.Copy(globals, shipped.globals)
		c.offline = slices.Clone(shipped.offline)
	}
	var globs []pathGlob
	for _, f := range user {
		below = append(below, f.digest[:]...)
		more = append(more, f.commands...)
		c.offline, c.hosts = append(c.offline, f.offline...), append(c.hosts, f.hosts...)
		globs = append(globs, f.globs...)
		maps.Copy(globals, f.globals)
		c.watch.join(&f.watch)
		if len(f.commands)+len(f.globs)+len(f.globals) > 0 || !f.watch.empty() {
			tables = append(tables, f.digest[:]...)
		}
	}
	more = online(more, c.offline)
	if shipped != nil {
		c.hosts = append(c.hosts, shipped.hosts...)
		c.layers = append(c.layers, shipped.layers...)
		below = append(below, shipped.hash[:]...)
		tables = append(tables, shipped.tables[:]...)
		more = append(more, shipped.entries...)
		globs = slices.Concat(globs, shipped.paths.globs, shipped.paths.open)
		c.watch.join(&shipped.watch)
	}
	c.entries, c.globals, c.paths = more, globals, newPaths(globs)
	c.commands = commandbook.NewCommands(more, globals)
	c.hash, c.tables = floodmark.DigestOf(string(below)), floodmark.DigestOf(string(tables))
	return c
}

// online adds Fetch to every command, unless it does worse or its program is listed as offline.
func online(entries []*commandbook.Entry, offline []string) []*commandbook.Entry {
	out := slices.Clone(entries)
	for i, e := range entries {
		worse := slices.ContainsFunc(e.Effects, func(f floodmark.Effect) bool { return canLeave(f) || f == floodmark.Admin })
		if worse || slices.Contains(offline, e.Words[0]) || slices.Contains(offline, strings.Join(e.Words, " ")) {
			continue
		}
		one := *e
		one.Effects = append(slices.Clip(e.Effects), floodmark.Fetch)
		out[i] = &one
	}
	return out
}

// Documents reports whether an address is of a documentation or package host and has only a path.
// Such a host passes the path to no one.
func (c *Catalog) Documents(raw string) bool {
	host, path := address.Parts(raw)
	return path && slices.Contains(c.hosts, host)
}

// Commands returns what is known about the commands of a shell.
func (c *Catalog) Commands() *commandbook.Commands { return c.commands }

// Hash identifies the exact content of this catalog.
func (c *Catalog) Hash() floodmark.Digest { return c.hash }

// Lookup returns the profile of a tool: by the server that offers it, or else
// by the agent it is built into, or its program. A name alone finds nothing.
func (c *Catalog) Lookup(t floodmark.ToolRef) (*Profile, bool) {
	k := keyOf(t)
	t.Agent = floodmark.Program(t.Agent)
	if k.owner == "" || k.tool == "" {
		return nil, false
	}
	for _, l := range c.layers {
		if p := cmp.Or(l.find(k), l.find(keyOf(t))); p != nil {
			return p, true
		}
	}
	return nil, false
}

// Profiles returns all profiles: the user's before the shipped ones, in the order of their files.
func (c *Catalog) Profiles() []*Profile {
	var out []*Profile
	for _, l := range c.layers {
		out = append(out, l.profiles...)
	}
	return out
}

// key names a tool. A server and an agent of the same name stay apart.
type key struct {
	server bool
	owner  string
	tool   string
}

func keyOf(t floodmark.ToolRef) key {
	return key{server: t.Server != "", owner: cmp.Or(t.Server, t.Agent), tool: t.Name}
}

// layer holds the profiles of one rank.
type layer struct {
	profiles []*Profile
	exact    map[key]*Profile
	prefixes map[key][]prefix // by owner, tool empty
}

// prefix is a tool name that ended in «*».
type prefix struct {
	head    string
	profile *Profile
}

func newLayer(files []*File) *layer {
	l := &layer{exact: map[key]*Profile{}, prefixes: map[key][]prefix{}}
	for _, f := range files {
		for _, p := range f.profiles {
			l.profiles = append(l.profiles, p)
			for _, name := range p.agents {
				l.add(key{owner: name}, p)
			}
			for _, name := range p.servers {
				l.add(key{server: true, owner: name}, p)
			}
		}
	}
	return l
}

// add keeps the first profile of a name: earlier files take precedence.
func (l *layer) add(k key, p *Profile) {
	for _, tool := range p.tools {
		exact := k
		exact.tool = tool
		if head, ok := strings.CutSuffix(tool, "*"); ok {
			l.prefixes[k] = append(l.prefixes[k], prefix{head: head, profile: p})
		} else if _, taken := l.exact[exact]; !taken {
			l.exact[exact] = p
		}
	}
}

// find returns the profile for k, or nil. A whole name comes before a prefix, and a longer prefix
// before a shorter one.
func (l *layer) find(k key) *Profile {
	if p, ok := l.exact[k]; ok {
		return p
	}
	tool := k.tool
	k.tool = ""
	var best prefix
	for _, x := range l.prefixes[k] {
		if strings.HasPrefix(tool, x.head) && (best.profile == nil || len(x.head) > len(best.head)) {
			best = x
		}
	}
	return best.profile
}
