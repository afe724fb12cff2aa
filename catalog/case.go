package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Case says in words which values of one argument change what a tool is.
// Programs read its JSON: fields are only added, never renamed.
type Case struct {
	// When is the condition, such as «action is read or list».
	When string `json:"when"`
	// Effects are the tool's effects then; nil leaves them as they are.
	Effects []floodmark.Effect `json:"effects,omitempty"`
	// Returns is the label of the result then: «external», «private» or both, or «trust by path»;
	// empty leaves it as it is.
	Returns string `json:"returns,omitempty"`
	// Licence are the words by which an owner asks for it then.
	Licence []string `json:"licence,omitempty"`
	// SelfProtected is «yes» or «no»; empty leaves it as it is.
	SelfProtected string `json:"selfProtected,omitempty"`
	// Finds is what is found in the call then, besides its effects.
	Finds floodmark.Finding `json:"finds,omitempty"`
}

// Cases returns the cases of the tool in words; the first that fits applies.
func (p *Profile) Cases() []Case {
	var out []Case
	for i := range p.cases {
		w := &p.cases[i]
		c := Case{When: w.arg + w.test.words(), Effects: slices.Clone(w.effects), Licence: slices.Clone(w.licence), Finds: w.finds}
		if w.returns != nil {
			c.Returns = w.returns.words()
		}
		if w.protected != nil {
			c.SelfProtected = map[bool]string{false: "no", true: "yes"}[*w.protected]
		}
		out = append(out, c)
	}
	return out
}

// String returns the case on one line.
func (c Case) String() string {
	var parts []string
	if len(c.Effects) > 0 {
		words := make([]string, len(c.Effects))
		for i, e := range c.Effects {
			words[i] = e.String()
		}
		parts = append(parts, strings.Join(words, ", "))
	}
	if c.Returns != "" {
		parts = append(parts, "returns "+c.Returns)
	}
	if len(c.Licence) > 0 {
		parts = append(parts, "asked for with "+alternatives(c.Licence))
	}
	switch c.SelfProtected {
	case "yes":
		parts = append(parts, "touches the monitor")
	case "no":
		parts = append(parts, "leaves the monitor alone")
	}
	if c.Finds != "" {
		parts = append(parts, "finds "+string(c.Finds))
	}
	return c.When + ": " + strings.Join(parts, "; ")
}

func (t *test) words() string {
	switch {
	case t.given:
		return " is given"
	case t.sql:
		return " is one plain SQL statement that reads"
	case t.in != nil:
		return " is " + alternatives(t.in)
	case t.hosts != nil:
		return " is at " + alternatives(t.hosts)
	case t.globs != nil:
		texts := make([]string, len(t.globs))
		for i := range t.globs {
			texts[i] = t.globs[i].String()
		}
		return " lies in " + alternatives(texts)
	default:
		texts := make([]string, len(t.commands))
		for i, c := range t.commands {
			texts[i] = strings.Join(c, " ")
		}
		return " begins with " + alternatives(texts)
	}
}

// words returns the halves of p that are set, in words.
func (p *partial) words() string {
	var out []string
	switch {
	case p.trust && p.trustByPath:
		out = append(out, "trust by path")
	case p.trust:
		out = append(out, p.label.Trust.String())
	}
	switch {
	case p.secrecy && p.secrecyByPath:
		out = append(out, "secrecy by path")
	case p.secrecy:
		out = append(out, p.label.Secrecy.String())
	}
	return strings.Join(out, ", ")
}

// alternatives joins words: a, b or c.
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
