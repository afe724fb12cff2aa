package catalog

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// commandList reads the descriptions of shell commands.
func (r *reader) commandList(f *File, list *yaml.Node) {
	for _, n := range r.items(list, "commands") {
		fs := r.fields(n, "a command", "command", "about", "effect", "returns", "operands", "flags", "options", "values", "adds", "loads", "hooks",
			"repository", "stdin", "registry", "here", "tells", "before", "own", "installs", "selfProtected", "branch", "starts", "stops", "finds")
		if fs == nil {
			continue
		}
		c, ok := fs["command"]
		if !ok {
			r.fail(n, "missing-key", "add command: with its first words", "a command needs words")
			continue
		}
		if before, ok := fs["before"]; ok {
			r.before(f, c.value, before)
			if _, does := fs["effect"]; !does {
				continue
			}
		}
		e := r.commandBody(n, fs)
		for _, text := range r.texts(c.value, "command") {
			if words := r.firstWords(text, text.Value); words != nil {
				one := e
				one.Words = words
				if _, said := fs["repository"]; !said {
					one.Repository = words[0] == "git"
				}
				f.commands = append(f.commands, &one)
			}
		}
	}
}

// before reads the options that may stand before a subcommand.
func (r *reader) before(f *File, names *yaml.Node, options field) {
	roles := r.roles(options)
	for _, n := range r.texts(names, "command") {
		if f.globals == nil {
			f.globals = map[string]map[string]commandbook.Role{}
		}
		f.globals[n.Value] = roles
	}
}

func (r *reader) commandBody(n *yaml.Node, fs map[string]field) commandbook.Entry {
	e := commandbook.Entry{Operands: []commandbook.Role{commandbook.Text}}
	if a, ok := fs["about"]; ok {
		r.text(a.value, "about")
	}
	if f, ok := fs["effect"]; ok {
		e.Effects = r.effects(f.value, &Profile{})
	} else {
		r.fail(n, "missing-key", "add effect:", "a command needs an effect")
		e.Effects = []floodmark.Effect{floodmark.Admin}
	}
	if f, ok := fs["returns"]; ok {
		got := r.returns(f.value).returns
		e.Returns = commandbook.Returns{Label: got.label, TrustByPath: got.trustByPath, SecrecyByPath: got.secrecyByPath, Sight: got.sight}
		if !got.secrecyByPath { // its output does not depend on what it reads
			e.Returns.Sight = commandbook.Names
		}
	} else {
		r.warn(n, "missing-key", "add returns:", "it is not said what comes back, so results count as untrusted and secret")
	}
	r.words(fs, &e)
	if f, ok := fs["own"]; ok {
		e.Own = r.flag(f.value, "own")
	}
	if f, ok := fs["installs"]; ok {
		e.Installs = r.flag(f.value, "installs")
	}
	if f, ok := fs["finds"]; ok {
		e.Finds = r.finds(f)
	}
	if f, ok := fs["selfProtected"]; ok {
		e.Protected = r.protected(f, e.Effects)
	}
	if f, ok := fs["branch"]; ok {
		e.Branch = r.flag(f.value, "branch")
	}
	if f, ok := fs["starts"]; ok {
		e.Starts = r.flag(f.value, "starts")
	}
	if f, ok := fs["stops"]; ok {
		e.Stops, _ = commandbook.ParseStops(r.oneOf(f.value, "stops", commandbook.StopsWords()[1:]))
	}
	return e
}

// words reads the meaning of a command's words.
func (r *reader) words(fs map[string]field, e *commandbook.Entry) {
	if f, ok := fs["operands"]; ok {
		e.Operands = nil
		for _, n := range r.texts(f.value, "operands") {
			if role := r.role(n, "operands"); role != commandbook.NoRole || len(e.Operands) > 0 { // [read, none]: one and no more
				e.Operands = append(e.Operands, role)
			}
		}
	}
	if f, ok := fs["flags"]; ok {
		e.Flags = r.text(f.value, "flags")
	}
	if f, ok := fs["options"]; ok {
		e.Options = valuesOf(r.texts(f.value, "options"))
	}
	if f, ok := fs["values"]; ok {
		e.Values = r.roles(f)
	}
	if f, ok := fs["adds"]; ok {
		e.Adds = r.adds(f)
	}
	if f, ok := fs["loads"]; ok {
		e.Loads = valuesOf(r.texts(f.value, "loads"))
	}
	if f, ok := fs["hooks"]; ok {
		e.Hooks = valuesOf(r.texts(f.value, "hooks"))
	}
	if f, ok := fs["repository"]; ok {
		e.Repository = r.flag(f.value, "repository")
	}
	if f, ok := fs["stdin"]; ok {
		e.Stdin, _ = commandbook.ParseRole(r.oneOf(f.value, "stdin", []string{"shell", "code", "patch"}))
	}
	if f, ok := fs["registry"]; ok {
		e.Registry = r.text(f.value, "registry")
	}
	if f, ok := fs["here"]; ok {
		e.Here = r.flag(f.value, "here")
	}
	if f, ok := fs["tells"]; ok {
		e.Tells = r.flag(f.value, "tells")
	}
}

func (r *reader) role(n *yaml.Node, what string) commandbook.Role {
	role, _ := commandbook.ParseRole(r.oneOf(n, what, commandbook.Roles()))
	return role
}

// roles reads options by the role of their values: {read: [-f, --file]}.
func (r *reader) roles(f field) map[string]commandbook.Role {
	out := map[string]commandbook.Role{}
	fs := r.fields(f.value, f.key.Value, commandbook.Roles()...)
	for _, word := range commandbook.Roles() {
		list, ok := fs[word]
		if !ok {
			continue
		}
		role, _ := commandbook.ParseRole(word)
		for _, n := range r.texts(list.value, word) {
			if _, twice := out[n.Value]; twice {
				r.fail(n, "conflict", "keep one of them", "the option %q has two meanings", shorten(n.Value))
			}
			out[n.Value] = role
		}
	}
	return out
}

// adds reads options by the effect they add: {send: [-d]}.
func (r *reader) adds(f field) map[string][]floodmark.Effect {
	out := map[string][]floodmark.Effect{}
	fs := r.fields(f.value, "adds", effectWords()...)
	for _, word := range effectWords() {
		list, ok := fs[word]
		if !ok {
			continue
		}
		e, _ := floodmark.ParseEffect(word)
		for _, n := range r.texts(list.value, word) {
			if !slices.Contains(out[n.Value], e) {
				out[n.Value] = append(out[n.Value], e)
			}
		}
	}
	return out
}
