package protection

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark/hook"
)

// A subject is one trace with the information that its mutations need.
type subject struct {
	cards  Cards
	trace  *Trace
	probes []string   // a piece of each injected text, only letters and digits
	hits   []*hit     // results that contain an injected text
	goal   []int      // the indices of the calls that carry the attacker's goal
	values []string   // values in those calls that the owner did not state, so that the attacker chose them
	people []person   // people whose addresses appear, the most frequent first
	owner  *folded    // the owner's words
	shapes [][]*shape // of every result, by step and call; made when needed
}

// A hit is a result that contains an injected text.
type hit struct {
	step, call int
	shape      *shape
}

// probeLetters is the length of the piece of an injected text that is searched: long enough to be
// unique, and short enough to survive a tool that shortens texts.
const probeLetters = 60

func newSubject(cards Cards, t *Trace) *subject {
	s := &subject{cards: cards, trace: t, owner: newFolded(t.User.Body)}
	for _, text := range t.Injected {
		p := letters(text.Body)
		if len(p) > probeLetters {
			at := (len(p) - probeLetters) / 2
			p = p[at : at+probeLetters]
		}
		if p != "" && !slices.Contains(s.probes, p) {
			s.probes = append(s.probes, p)
		}
	}
	s.shapes = make([][]*shape, len(t.Steps))
	for i := range t.Steps {
		s.shapes[i] = make([]*shape, len(t.Steps[i].Calls))
		for j := range t.Steps[i].Calls {
			c := &t.Steps[i].Calls[j]
			if c.Fed && s.injectedIn(c.Result.Body) {
				s.hits = append(s.hits, &hit{step: i, call: j, shape: s.shape(i, j)})
			}
		}
	}
	for _, cut := range t.Cuts {
		s.goal = append(s.goal, cut...)
	}
	slices.Sort(s.goal)
	s.goal = slices.Compact(s.goal)
	s.values = s.chosen()
	s.people = s.known()
	return s
}

// shape returns a result with its fields. It must not be changed.
func (s *subject) shape(step, call int) *shape {
	if s.shapes[step][call] == nil {
		s.shapes[step][call] = newShape(s.trace.Steps[step].Calls[call].Result.Body)
	}
	return s.shapes[step][call]
}

// letters keeps only the letters and digits of a text, so that the text is found whatever a tool
// did to its lines, quotes and escapes.
func letters(s string) string {
	var b strings.Builder
	skip := false
	for _, r := range s {
		switch {
		case skip:
			skip = false
		case r == '\\':
			skip = true
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func (s *subject) injectedIn(text string) bool {
	if len(s.probes) == 0 {
		return false
	}
	flat := letters(text)
	return slices.ContainsFunc(s.probes, func(p string) bool { return strings.Contains(flat, p) })
}

// injected returns the fields of a shape that contain an injected text.
func (s *subject) injected(sh *shape) []field {
	var at []field
	for _, f := range sh.fields() {
		if s.injectedIn(f.value()) {
			at = append(at, f)
		}
	}
	if len(at) == 0 && sh.form == plain {
		at = sh.fields()
	}
	return at
}

// shortest is the length below which a value says nothing about who chose it.
const shortest = 3

// chosen returns the values in the goal's calls that the owner did not state. Values that decide
// where the effect lands come first.
func (s *subject) chosen() []string {
	var deciding, all []string
	for _, step := range s.trace.Steps {
		for i := range step.Calls {
			c := &step.Calls[i]
			if !slices.Contains(s.goal, c.Index) {
				continue
			}
			leaves, err := hook.Call{Args: c.Args}.Leaves()
			if err != nil {
				continue
			}
			for _, l := range leaves {
				v := strings.TrimSpace(l.Value)
				switch {
				case l.Kind == hook.Bool, l.Kind == hook.Null, len(v) < shortest, s.owner.has(bare(v)), slices.Contains(all, v), slices.Contains(deciding, v):
				case critical(s.cards.Card(s.trace.Suite, c.Tool).Roles[l.Top]):
					deciding = append(deciding, v)
				default:
					all = append(all, v)
				}
			}
		}
	}
	return append(deciding, all...)
}

// copyTrace returns a copy of the trace whose calls can be changed.
func (t *Trace) copyTrace() *Trace {
	c := *t
	c.Steps = slices.Clone(t.Steps)
	for i := range c.Steps {
		c.Steps[i].Calls = slices.Clone(t.Steps[i].Calls)
	}
	return &c
}

// own returns a text that only this trace has.
func own(body string) Text { return Text{ID: -1, Body: body} }

// rewriteHits returns a copy of the trace in which edit has changed every result that contains an
// injected text. It returns false if edit changed none.
func (s *subject) rewriteHits(edit func(sh *shape, at []field) bool) (*Trace, bool) {
	t := s.trace.copyTrace()
	changed := false
	for _, h := range s.hits {
		sh := h.shape.clone()
		if edit(sh, s.injected(sh)) {
			changed = true
			t.Steps[h.step].Calls[h.call].Result = own(sh.String())
		}
	}
	return t, changed
}

// attackable returns why an attack cannot be mutated at all; empty if it can.
func (s *subject) attackable() string {
	switch {
	case s.trace.TextOnly:
		return noCall
	case len(s.hits) == 0:
		return noInjected
	}
	return ""
}

// replaceAll replaces values everywhere in the trace except in the messages of the owner and the
// system. pairs are old, new, old, new.
func (t *Trace) replaceAll(pairs []string) {
	r := strings.NewReplacer(pairs...)
	for i := range t.Steps {
		s := &t.Steps[i]
		s.Text = replaced(r, s.Text)
		for j := range s.Calls {
			c := &s.Calls[j]
			c.Result = replaced(r, c.Result)
			c.Args = replacedArgs(c.Args, r.Replace)
		}
	}
}

func replaced(r *strings.Replacer, t Text) Text {
	if body := r.Replace(t.Body); body != t.Body {
		return own(body)
	}
	return t
}

// replacedArgs changes every string of a call's arguments.
func replacedArgs(args json.RawMessage, change func(string) string) json.RawMessage {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(args)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return args
	}
	changed := false
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			w := change(v)
			changed = changed || w != v
			return w
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	v = walk(v)
	if !changed {
		return args
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return out
}
