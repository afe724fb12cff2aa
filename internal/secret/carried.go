package secret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/provenance"
)

// minPart is the least length of a part of a value that is looked up as a
// secret: shorter ones are in any text.
const minPart = 8

// maxTokens bounds the tokens of one value that are looked up.
const maxTokens = 2048

// maxNamed bounds the secrets a decision names.
const maxNamed = 8

// FromSecret reports whether a value carries something seen in secret content: as
// it is, inside a longer token such as a URL, or in a plain encoding. whole says where
// the value as a whole was seen.
func (s *Session) FromSecret(tr *provenance.Tracer, value string, whole floodmark.Argument) bool {
	if whole.Whence == floodmark.Seen && s.allSecret(whole) {
		return true
	}
	n := 0
	for tok := range tokens.Tokens(value) {
		if n++; n > maxTokens {
			return true // too long to look through
		}
		if tok.Kind == tokens.Word || tok.Kind == tokens.Name {
			if len(tok.Text) < 2*minPart {
				continue
			}
		}
		if slices.ContainsFunc(redact.Forms(value[tok.Start:tok.End], minPart), func(part string) bool { return s.partFromSecret(tr, part) }) {
			return true
		}
	}
	return false
}

func (s *Session) partFromSecret(tr *provenance.Tracer, part string) bool {
	a := tr.Trace(hook.Leaf{Value: part}, floodmark.Content, "")
	return a.Whence == floodmark.Seen && s.allSecret(a)
}

// Carried returns the secrets in the texts of a call or an answer, at most [maxNamed]: secrets
// that were found in content before, also if they are encoded or in pieces, and new ones
// that are recognised by the form which their issuer gives them.
func (s *Session) Carried(texts []string) (carried []floodmark.Carried) {
	add := func(c floodmark.Carried) {
		if !slices.Contains(carried, c) && len(carried) < maxNamed {
			carried = append(carried, c)
		}
	}
	if nodes, secrets := s.seen(); len(secrets) > 0 {
		p := s.Printer()
		bares := []string{redact.Squeezed(strings.Join(texts, ""))} // a secret may be in pieces
		for _, text := range texts {
			bares = append(bares, redact.Readings(text)...)
		}
		for _, bare := range bares {
			for _, i := range p.Holds(bare, secrets) {
				span := secrets[i]
				add(floodmark.Carried{Rule: span.Rule, Seen: true, Node: nodes[i], Start: span.Start, End: span.End})
			}
		}
	}
	for _, span := range s.Rules.detector.Find(strings.Join(texts, "\n")) {
		known := slices.ContainsFunc(carried, func(c floodmark.Carried) bool { return c.Rule == span.Rule })
		if span.Rule != redact.Generic && !known {
			add(floodmark.Carried{Rule: span.Rule})
		}
	}
	return carried
}

// NameCarried returns the reasons against a call. It adds the secrets that the call carries to the
// reasons that refuse the call because of a secret.
func (s *Session) NameCarried(reasons []floodmark.Reason, carried []floodmark.Carried) []floodmark.Reason {
	if len(carried) == 0 {
		return reasons
	}
	reasons = slices.Clone(reasons)
	for i, r := range reasons {
		if r.Code == floodmark.FlowSecret && r.Verdict == floodmark.Restrict {
			reasons[i].Text += ": " + s.words(carried)
		}
	}
	return reasons
}

// words names secrets by rule and place, without a part of their text.
func (s *Session) words(list []floodmark.Carried) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = c.Rule
		if src, ok := s.Ledger.Source(c.Node); ok && c.Seen && c.End > 0 {
			words[i] += fmt.Sprintf(" at %d-%d of %s", c.Start, c.End, meaning.Source(src, s.Ledger.Effective(c.Node).Trust))
		}
	}
	return strings.Join(words, ", ")
}
