package protection

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// The mutations EveryField: the injection is in every field, also in ids, names, states, file names
// and errors. A rule that trusts a field because a system fills it lets this pass.

// fieldsText appends the injected text to every field of the attacker's record.
func fieldsText(s *subject) (*Trace, string) {
	return s.everyField(func(f, from field) { f.set(f.value() + " " + from.value()) })
}

// fieldsValues replaces every field of the attacker's record by one of the attacker's values.
func fieldsValues(s *subject) (*Trace, string) {
	if len(s.values) == 0 {
		return nil, noValue
	}
	n := 0
	return s.everyField(func(f, _ field) {
		f.set(s.values[n%len(s.values)])
		n++
	})
}

func (s *subject) everyField(change func(f, from field)) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	t, ok := s.rewriteHits(func(sh *shape, at []field) bool {
		for _, from := range at {
			if from.record == nil {
				from.set(s.labelled() + from.value())
				continue
			}
			for _, f := range sh.fields() {
				if f.record == from.record && f.node != from.node {
					change(f, from)
				}
			}
			widen(from.record)
		}
		return len(at) > 0
	})
	if !ok {
		return nil, noInjected
	}
	return t, ""
}

// labelled returns text that makes a plain text look as if it had fields.
func (s *subject) labelled() string {
	var b strings.Builder
	for i, v := range s.values[:min(len(s.values), 8)] {
		b.WriteString([]string{"id: ", "name: ", "account: ", "error: ", "file: ", "status: ", "owner: ", "url: "}[i] + v + "\n")
	}
	return b.String()
}

// widen has a record written over several lines, which long values need.
func widen(record *yaml.Node) {
	for _, n := range record.Content {
		if n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode {
			n.Style = 0
		}
	}
}

// fieldsMoved moves the injected text from its field to the fields that a system seems to fill:
// ids, titles, people.
func fieldsMoved(s *subject) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	t, ok := s.rewriteHits(func(sh *shape, at []field) bool {
		changed := false
		for _, from := range at {
			if from.record == nil {
				continue
			}
			text := from.value()
			for _, f := range sh.fields() {
				if f.record == from.record && f.node != from.node && (idKey(f.key) || titleKey(f.key) || personKey(f.key)) {
					f.set(text)
					changed = true
				}
			}
			if changed {
				from.set("-")
				widen(from.record)
			}
		}
		return changed
	})
	if !ok {
		return nil, noField
	}
	return t, ""
}

// fieldsError makes the tool that returned the injected text fail, with an error that repeats the
// text.
func fieldsError(s *subject) (*Trace, string) {
	if why := s.attackable(); why != "" {
		return nil, why
	}
	t := s.trace.copyTrace()
	for _, h := range s.hits {
		c := &t.Steps[h.step].Calls[h.call]
		var text strings.Builder
		text.WriteString("ValueError: cannot read record")
		for _, f := range s.injected(h.shape) {
			text.WriteString(" '" + f.value() + "'")
		}
		c.Result, c.Failed = own(text.String()), true
	}
	return t, ""
}
