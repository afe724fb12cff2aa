package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

func (r *reader) tool(n *yaml.Node, d defaults) *Profile {
	fs := r.fields(n, "a tool", "tool", "about", "effect", "returns", "caution", "licence", "args", "when",
		"agent", "server", "own", "remote", "pays", "repository", "commits", "selfProtected", "store", "fresh", "ownPlace", "attaches", "finds")
	if fs == nil {
		return nil
	}
	d = r.owner(n, fs, d)
	p := &Profile{agents: d.agents, servers: d.servers, own: d.own, remote: d.remote, args: map[string]Arg{}}
	if len(p.agents)+len(p.servers) == 0 {
		r.fail(n, "missing-key", "add agent: or server:, because a name alone identifies no tool", "it is not said whose tool this is")
	}
	if t, ok := fs["tool"]; ok {
		p.tools = r.names(t.value, "tool")
	} else {
		r.fail(n, "missing-key", "add tool: with the name", "a tool needs a name")
	}
	if a, ok := fs["about"]; ok {
		p.about = r.text(a.value, "about")
	}
	if l, ok := fs["licence"]; ok {
		p.licence = r.licence(l.value)
	}
	r.does(n, fs, p)
	if f, ok := fs["store"]; ok {
		p.store = r.oneOf(f.value, "store", []string{"puts", "gets"})
	}
	if f, ok := fs["attaches"]; ok {
		if p.attaches = strings.ToLower(r.text(f.value, "attaches")); len(p.attaches) > filenames.MaxWord {
			r.fail(f.value, "too-large", "", "attaches is longer than %d letters", filenames.MaxWord)
		}
	}
	if f, ok := fs["finds"]; ok {
		p.finds = r.finds(f)
	}
	if f, ok := fs["fresh"]; ok {
		p.fresh = valuesOf(r.texts(f.value, "fresh"))
	}
	if f, ok := fs["pays"]; ok {
		p.pays = r.pays(f, p.effects)
	}
	for name, to := range map[string]*bool{"repository": &p.repository, "commits": &p.commits} {
		if f, ok := fs[name]; ok {
			*to = r.flag(f.value, name)
		}
	}
	if s, ok := fs["selfProtected"]; ok {
		p.protected = r.protected(s, p.effects)
	}
	if a, ok := fs["args"]; ok {
		r.args(a.value, p)
	}
	if w, ok := fs["when"]; ok {
		r.cases(w.value, p)
	}
	if o, ok := fs["ownPlace"]; ok {
		p.place = r.ownPlace(o.value, p)
	}
	return p
}

// does reads the tool's effects and the label of its result.
func (r *reader) does(n *yaml.Node, fs map[string]field, p *Profile) {
	if e, ok := fs["effect"]; ok {
		p.effects = r.effects(e.value, p)
	} else {
		r.fail(n, "missing-key", "add effect:, one of "+strings.Join(effectWords(), ", "), "a tool needs an effect")
	}
	if ret, ok := fs["returns"]; ok {
		got := r.returns(ret.value)
		p.returns = got.returns
		if !got.secrecy {
			r.warn(ret.value, "missing-key", "add secrecy:", "returns names no secrecy, so results count as secret")
		}
		if !got.trust {
			r.warn(ret.value, "missing-key", "add trust:", "returns names no trust, so results count as untrusted")
		}
	} else {
		r.warn(n, "missing-key", "add returns:", "it is not said what comes back, so results count as untrusted and secret")
	}
	if c, ok := fs["caution"]; ok && r.flag(c.value, "caution") {
		p.returns.label.Trust, p.returns.trustByPath = floodmark.Untrusted, false
	}
}

// pays reads whether a tool moves money. That is shown to people; decisions follow from the effect.
func (r *reader) pays(f field, effects []floodmark.Effect) bool {
	on := r.flag(f.value, "pays")
	if on && !slices.Contains(effects, floodmark.Send) {
		r.fail(f.key, "conflict", "write effect: send, or leave pays: out", "money that is paid reaches somebody else")
	}
	return on
}

// finds reads what is found in a call besides its effects: a line of internal/rules/finding.
func (r *reader) finds(f field) floodmark.Finding {
	known, _, _ := finding.Shipped() // without a table, every word is unknown
	return floodmark.Finding(r.oneOf(f.value, "finds", known.Words()))
}

// protected reads whether a tool or case changes how the agent is watched. It is refused for a tool
// or case that only observes, where it would have no effect.
func (r *reader) protected(f field, effects []floodmark.Effect) bool {
	on := r.flag(f.value, "selfProtected")
	if on && !slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e != floodmark.Observe }) {
		r.fail(f.key, "conflict", "write effect: admin, or leave selfProtected: out", "what only observes cannot touch the monitor")
	}
	return on
}

// effects reads one or several effects. A remote tool cannot be Observe: the request itself leaves
// the machine.
func (r *reader) effects(n *yaml.Node, p *Profile) []floodmark.Effect {
	var out []floodmark.Effect
	for _, n := range r.texts(n, "effect") {
		e, err := floodmark.ParseEffect(n.Value)
		if err != nil {
			r.fail(n, "unknown-word", near("effect", n.Value, effectWords()), "effect cannot be %q", shorten(n.Value))
			continue
		}
		if e == floodmark.Observe && p.remote && !p.own {
			r.warn(n, "remote-observe", "write fetch", "a remote tool never only observes; it counts as fetch")
			e = floodmark.Fetch
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	if len(out) == 0 { // an error was reported; it must not loosen anything
		out = []floodmark.Effect{floodmark.Admin}
	}
	return out
}

func (r *reader) returns(n *yaml.Node) partial {
	var out partial
	fs := r.fields(n, "returns", "trust", "secrecy")
	if t, ok := fs["trust"]; ok {
		out.trust = true
		word := r.oneOf(t.value, "trust", append(trustWords(), "path"))
		out.trustByPath = word == "path"
		out.label.Trust, _ = floodmark.ParseTrust(word) // any other word is the lowest
	}
	if s, ok := fs["secrecy"]; ok {
		out.secrecy = true
		word := r.oneOf(s.value, "secrecy", append(secrecyWords(), commandbook.Sights()...))
		out.sight, out.secrecyByPath = commandbook.ParseSight(word)
		out.label.Secrecy, _ = floodmark.ParseSecrecy(word)
	}
	return out
}

// licence reads verbs in lower case: single words, or a verb with its object («make a
// reservation»).
func (r *reader) licence(n *yaml.Node) []string {
	verbs := r.texts(n, "licence")
	for _, n := range verbs {
		if strings.ContainsFunc(n.Value, func(c rune) bool { return (c < 'a' || c > 'z') && c != '-' && c != ' ' }) {
			r.fail(n, "wrong-name", "write a verb as it stands in a dictionary: send, reply", "licence %q is not a verb in lower case", shorten(n.Value))
		}
	}
	return valuesOf(verbs)
}

func (r *reader) args(n *yaml.Node, p *Profile) {
	fs := r.fields(n, "args")
	if len(fs) > MaxArgs {
		r.fail(n, "too-large", "", "there are %d arguments, at most %d are read", len(fs), MaxArgs)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		p.args[name] = r.arg(n.Content[i+1])
		p.names = append(p.names, name)
		p.command = p.command || p.args[name].Is == IsCommand
	}
}

func (r *reader) arg(n *yaml.Node) Arg {
	fs := r.fields(n, "an argument", "role", "is", "needs", "usual")
	if fs == nil {
		return Arg{}
	}
	a := Arg{Needs: floodmark.Owner}
	if role, ok := fs["role"]; !ok {
		r.fail(n, "missing-key", "add role: critical, or content if it is free text that decides nothing", "an argument needs a role")
	} else if r.oneOf(role.value, "role", []string{"critical", "content"}) == "content" {
		a.Role, a.Needs = floodmark.Content, floodmark.Untrusted
	} else {
		a.Role = floodmark.Critical
	}
	if is, ok := fs["is"]; ok {
		a.Is = r.oneOf(is.value, "is", kindsOfArg())
	} else {
		r.fail(n, "missing-key", "add is:, one of "+strings.Join(kindsOfArg(), ", "), "it is not said what the argument is")
	}
	r.decides(n, a)
	if usual, ok := fs["usual"]; ok {
		if a.Is != IsFlag {
			r.fail(usual.key, "conflict", "leave usual: out, or write is: flag", "only a flag has a usual value")
		}
		a.Usual = r.text(usual.value, "usual")
	}
	if needs, ok := fs["needs"]; ok {
		if a.Role == floodmark.Content {
			r.fail(needs.key, "conflict", "leave needs: out, or write role: critical", "only a critical argument needs trust")
		}
		word := r.oneOf(needs.value, "needs", trustWords())
		a.Needs, _ = floodmark.ParseTrust(word) // oneOf has checked it
	}
	return a
}

// decides refuses the role content for an argument that decides where an effect lands.
func (r *reader) decides(n *yaml.Node, a Arg) {
	switch a.Is {
	case IsURL, IsPath, IsPatch, IsCommand, IsDestination, IsAmount:
		if a.Role == floodmark.Content {
			r.fail(n, "conflict", "write role: critical", "a %s decides where the effect lands, so it is not content", a.Is)
		}
	}
}

// wordsOf returns the words of a level, from its first to its last.
func wordsOf[T interface {
	~uint8
	String() string
}](first, last T) (out []string) {
	for x := first; x <= last; x++ {
		out = append(out, x.String())
	}
	return out
}

func effectWords() []string  { return wordsOf(floodmark.Admin, floodmark.Observe) }
func trustWords() []string   { return wordsOf(floodmark.Untrusted, floodmark.System) }
func secrecyWords() []string { return wordsOf(floodmark.Secret, floodmark.Public) }
