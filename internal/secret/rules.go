// Package secret finds the secrets in the content of a session and in the arguments of a
// call, and hides them in what a person or a gate is shown of the call. It keeps prints of
// secrets and never the secrets, and it decides nothing.
//
//	rules.go      what tells a secret from other text, and hides it
//	session.go    the secrets of one session
//	carried.go    the secrets in the arguments of a call
//	view.go       a call as a person or a gate is shown it
//	shown.go      one argument as a decision keeps it
package secret

import (
	"slices"
	"strings"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/secret/redact"
)

// Rules tell secrets from other text. They never change and are safe for use by many
// goroutines. The zero Rules take every text for a secret.
type Rules struct {
	detector *redact.Detector
	// veils returns the shapes of credentials, which are made on first use.
	veils func() *redact.Veils
}

// NewRules returns the rules that come with the program.
func NewRules() Rules {
	return Rules{detector: redact.New(), veils: sync.OnceValue(redact.NewVeils)}
}

// Veil returns text without the credentials in it.
func (r Rules) Veil(text string) string { return r.shapes().Text(r.detector, text) }

// VeilLine returns a command line without the credentials in it. No command is hidden.
func (r Rules) VeilLine(line string) string { return r.shapes().Line(r.detector, line) }

func (r Rules) shapes() *redact.Veils {
	if r.veils == nil {
		return redact.NewVeils()
	}
	return r.veils()
}

// InFile returns prints, made by p, of the secrets in the text of a file with this name. keeps
// says how much of the file is secret.
func (r Rules) InFile(p *redact.Printer, name, text string, keeps redact.Keeper) []floodmark.SecretSpan {
	return r.detector.Kept(p, name, text, keeps)
}

// IsName reports whether an argument or a field with this name holds a secret.
func IsName(name string) bool {
	return slices.ContainsFunc([]string{"password", "passwd", "secret", "token", "apikey", "api_key", "credential", "private_key"}, func(word string) bool {
		return strings.Contains(strings.ToLower(name), word)
	})
}
