package secret

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/provenance"
)

// MaxFound bounds the secrets that are remembered of one content. If it has more, all
// from the first to the last is one secret.
const MaxFound = 64

// A Session knows the secrets of one session: those in its ledger, and those that its
// project and the owner's home keep.
type Session struct {
	Rules  Rules
	Ledger *provenance.Ledger
	// Key is the key for prints of new secrets. Others are the keys of older prints.
	Key    provenance.RingKey
	Others []provenance.RingKey
	// Kept returns the secrets in files of the project and of the home; nil knows none.
	Kept func() []floodmark.SecretSpan
}

// Printer returns what prints secrets and finds them again.
func (s *Session) Printer() redact.Printer { return redact.NewPrinter(s.Key, s.Others) }

// Find returns the secrets in a content, ready to be written down.
func (s *Session) Find(text string) []floodmark.SecretSpan {
	spans := s.Rules.detector.Find(text)
	if len(spans) > MaxFound {
		last := spans[len(spans)-1]
		return []floodmark.SecretSpan{{Rule: "many", Start: spans[0].Start, End: last.End}}
	}
	p := s.Printer()
	var list []floodmark.SecretSpan
	for _, found := range spans {
		list = append(list, p.Span(found, text[found.Start:found.End]))
	}
	for _, kept := range p.Stand(text, s.keptFor(text), MaxFound) {
		same := func(o floodmark.SecretSpan) bool { return kept.Start < o.End && o.Start < kept.End }
		if !slices.ContainsFunc(list, same) {
			list = append(list, kept)
		}
	}
	return list
}

// HoldsKept reports whether a secret of the project or of the home is in a text, as it
// is or encoded.
func (s *Session) HoldsKept(text string) bool {
	kept := s.keptFor(text)
	if len(kept) == 0 {
		return false
	}
	p := s.Printer()
	return len(p.Holds(strings.Join(redact.Readings(text), " "), kept)) > 0
}

// keptFor returns the secrets in files of the project and of the home; nil for an empty text.
func (s *Session) keptFor(text string) []floodmark.SecretSpan {
	if text == "" || s.Kept == nil {
		return nil
	}
	return s.Kept()
}

// Guard adds the secrets that are found in new content to its fact, and removes them from
// f.Text, in which the fact keeps what the owner wrote.
func (s *Session) Guard(f *floodmark.ContentSeen, text string) {
	if text == "" {
		text = f.Text
	}
	if text == "" || len(f.Secrets) > 0 {
		return
	}
	f.Secrets = s.Find(text)
	if f.Text != "" && len(f.Secrets) > 0 {
		f.Text = redact.Without(s.Rules.detector, f.Text)
	}
}

// seen returns the secrets that were found in this session, and where.
func (s *Session) seen() (nodes []floodmark.NodeID, secrets []floodmark.SecretSpan) {
	for _, n := range s.Ledger.Secret() { // a source with a secret is secret
		src, _ := s.Ledger.Source(n)
		for _, span := range src.Secrets {
			if span.Print != "" {
				nodes, secrets = append(nodes, src.Node), append(secrets, span)
			}
		}
	}
	return nodes, secrets
}

// allSecret reports whether a value was seen in content that is secret as a whole. Content
// in which single secrets were found is not, if it is secret for no other reason.
func (s *Session) allSecret(a floodmark.Argument) bool {
	return slices.ContainsFunc(a.Spans, func(sp floodmark.Span) bool {
		return s.Ledger.Effective(sp.Node).Secrecy <= floodmark.Secret && s.declared(sp.Node, map[floodmark.NodeID]bool{})
	})
}

// declared reports whether a node, or something it was made from, is secret for
// another reason than recognisable secrets that were found in it.
func (s *Session) declared(n floodmark.NodeID, looked map[floodmark.NodeID]bool) bool {
	src, ok := s.Ledger.Source(n)
	if !ok || src.Label.Secrecy <= floodmark.Secret || slices.ContainsFunc(src.Secrets, s.unrecognised) {
		return true
	}
	looked[n] = true
	inputs := src.Inputs
	if src.Whole {
		inputs = nil
		for i := range n {
			inputs = append(inputs, i)
		}
	}
	return slices.ContainsFunc(inputs, func(in floodmark.NodeID) bool { return !looked[in] && s.declared(in, looked) })
}

func unprinted(s floodmark.SecretSpan) bool { return s.Print == "" }

// unrecognised reports whether a secret could not be recognised in this session: it has
// no print, or a print under a key that the session does not have.
func (s *Session) unrecognised(span floodmark.SecretSpan) bool {
	if unprinted(span) {
		return true
	}
	under := redact.PrintedUnder(span)
	return under != s.Key.Name && !slices.ContainsFunc(s.Others, func(k provenance.RingKey) bool { return k.Name == under })
}

// Undescribed returns the tools without a description, if their results are the only reason
// why something in a call is labelled as secret; none if there is another reason. The result
// of such a tool has the zero label, which is secret, although no secret was found in the
// result and nobody declared it to be secret.
func (s *Session) Undescribed(b *floodmark.Basis) (tools []string) {
	other := b.SecretPath || len(b.Carried) > 0 || slices.ContainsFunc(b.Loads, func(l floodmark.Load) bool { return l.Label.Secrecy <= floodmark.Secret })
	if other || s.Ledger.Lowest().Secrecy > floodmark.Secret {
		return nil
	}
	for _, n := range s.Ledger.Secret() {
		src, _ := s.Ledger.Source(n)
		if !s.Ledger.Live(src.Node) {
			continue
		}
		if src.Because != floodmark.Undescribed || len(src.Secrets) > 0 {
			return nil
		}
		if tool := (floodmark.ToolRef{Server: src.Origin.Server, Name: src.Origin.Name}).String(); !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	return tools
}
