package catalog

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/text/address"
)

func (r *reader) cases(n *yaml.Node, p *Profile) {
	items := r.items(n, "when")
	if len(items) > MaxCases {
		r.fail(n, "too-large", "", "there are %d cases, at most %d are read", len(items), MaxCases)
		return
	}
	for _, item := range items {
		p.cases = append(p.cases, r.oneCase(item, p))
	}
}

func (r *reader) oneCase(n *yaml.Node, p *Profile) when {
	fs := r.fields(n, "a case", "arg", "in", "host", "path", "command", "given", "sql", "effect", "returns", "licence", "selfProtected", "finds")
	if fs == nil {
		return when{}
	}
	var w when
	if a, ok := fs["arg"]; ok {
		w.arg = r.text(a.value, "arg")
		if _, declared := p.args[w.arg]; !declared && w.arg != "" {
			r.fail(a.value, "unknown-argument", near("arg", w.arg, p.names), "the tool has no argument %q under args", shorten(w.arg))
		}
	} else {
		r.fail(n, "missing-key", "add arg: with the argument that is looked at", "a case needs an argument")
	}
	r.test(n, fs, &w, p)
	if e, ok := fs["effect"]; ok {
		w.effects = r.effects(e.value, p)
	}
	if ret, ok := fs["returns"]; ok {
		got := r.returns(ret.value)
		w.returns = &got
	}
	if l, ok := fs["licence"]; ok {
		w.licence = r.licence(l.value)
	}
	if f, ok := fs["finds"]; ok {
		w.finds = r.finds(f)
	}
	if s, ok := fs["selfProtected"]; ok {
		does := w.effects
		if does == nil {
			does = p.effects
		}
		on := r.protected(s, does)
		w.protected = &on
	}
	if w.effects == nil && w.returns == nil && w.licence == nil && w.protected == nil && w.finds == "" {
		r.fail(n, "missing-key", "add effect: or returns:", "the case changes nothing")
	}
	// Only a flag selects and does nothing else: a name or an address that a case tests still
	// decides who is affected.
	if w.test.in != nil && p.args[w.arg].Is == IsFlag {
		w.selectors = []string{w.arg}
	}
	return w
}

// test reads the one condition of a case.
func (r *reader) test(n *yaml.Node, fs map[string]field, w *when, p *Profile) {
	count := 0
	for _, k := range [...][2]string{{"in", ""}, {"host", IsURL}, {"path", IsPath}, {"command", IsCommand}, {"given", ""}, {"sql", IsText}} {
		name, is := k[0], k[1]
		f, ok := fs[name]
		if !ok {
			continue
		}
		count++
		if got := p.args[w.arg].Is; is != "" && got != "" && got != is {
			r.fail(f.key, "conflict", "use in:, or say is: "+is+" under args", "%q is a %s, so it has no %s", shorten(w.arg), got, name)
		}
		r.condition(name, f.value, &w.test)
	}
	if count != 1 {
		r.fail(n, "missing-key", "use one of in, host, path, command, given, sql", "a case needs exactly one condition, not %d", count)
	}
}

func (r *reader) condition(name string, n *yaml.Node, t *test) {
	switch name {
	case "given":
		if t.given = r.flag(n, "given"); !t.given {
			r.fail(n, "wrong-kind", "write given: true; what holds otherwise stands with the tool", "given can only be true")
		}
	case "sql":
		t.sql = r.oneOf(n, "sql", []string{"read"}) != ""
	case "in":
		t.in = r.values(n)
	case "host":
		t.hosts = r.hosts(n, "host")
	case "path":
		for _, text := range r.texts(n, "path") {
			if g, ok := r.glob(text); ok {
				t.globs = append(t.globs, g)
			}
		}
	case "command":
		for _, text := range r.texts(n, "command") {
			if words := r.firstWords(text, strings.TrimSuffix(text.Value, " *")); words != nil {
				t.commands = append(t.commands, words)
			}
		}
	}
}

// values reads a list of values as they appear in a call: also numbers and true or false.
func (r *reader) values(n *yaml.Node) []string {
	out := []string{}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			r.fail(item, "wrong-kind", "", "in must list plain values, not %s", kindOf(item))
		}
		out = append(out, item.Value)
	}
	if len(items) == 0 {
		r.fail(n, "wrong-kind", "", "in must not be empty")
	}
	return out
}

func (r *reader) glob(n *yaml.Node) (glob, bool) {
	g, err := parseGlob(n.Value)
	if err != nil {
		r.fail(n, "wrong-path", "write /etc/**, ~/.ssh/** or **/name", "path %q: %v", shorten(n.Value), err)
		return glob{}, false
	}
	return g, true
}

// firstWords reads the words a command begins with.
func (r *reader) firstWords(n *yaml.Node, text string) []string {
	words, ok := simple(text, nil)
	if !ok {
		r.fail(n, "wrong-command", "write the first words only: git push", "command %q is no plain command", shorten(text))
		return nil
	}
	return words
}

// hosts reads hosts. «*.example.com» stands for all hosts below example.com.
func (r *reader) hosts(n *yaml.Node, what string) []string {
	nodes := r.texts(n, what)
	for _, h := range nodes {
		if !address.PlainHost(strings.TrimPrefix(h.Value, "*.")) {
			r.fail(h, "wrong-name", "write example.com or *.example.com, in lower case", "host %q is no host", shorten(h.Value))
		}
	}
	return valuesOf(nodes)
}

// pathLists reads the lists of guarded paths.
func (r *reader) pathLists(f *File, n *yaml.Node) {
	lists := guardLists()
	names := slices.Sorted(maps.Keys(lists))
	fs := r.fields(n, "paths", names...)
	for _, name := range names {
		list, ok := fs[name]
		if !ok {
			continue
		}
		for _, text := range r.texts(list.value, name) {
			if g, ok := r.glob(text); ok {
				f.globs = append(f.globs, pathGlob{glob: g, guard: lists[name]})
			}
		}
	}
	if len(f.globs) > MaxGlobs {
		r.fail(n, "too-large", "", "there are %d paths, at most %d are read", len(f.globs), MaxGlobs)
	}
}
