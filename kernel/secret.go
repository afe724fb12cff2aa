package kernel

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// secretLength is from how many characters a part of a value is looked up as a
// secret: shorter ones stand in any text.
const secretLength = 8

// secret reports whether a value carries something seen in secret content: as
// it is, inside a longer token such as a URL, or in a plain encoding.
func (st *step) secret(tr *provenance.Tracer, value string, whole floodmark.Argument) bool {
	if st.mark.Secrecy > floodmark.Secret {
		return false
	}
	if whole.Whence == floodmark.Seen && st.guarded(whole, floodmark.Secret) {
		return true
	}
	n := 0
	for tok := range provenance.Tokens(value) {
		if n++; n > maxContentTokens {
			return true // too long to look through
		}
		if tok.Kind == provenance.Word || tok.Kind == provenance.Name {
			if len(tok.Text) < 2*secretLength {
				continue
			}
		}
		if slices.ContainsFunc(forms(value[tok.Start:tok.End]), func(part string) bool { return st.secretPart(tr, part) }) {
			return true
		}
	}
	return false
}

func (st *step) secretPart(tr *provenance.Tracer, part string) bool {
	a := tr.Trace(hook.Leaf{Value: part}, floodmark.Content, "")
	return a.Whence == floodmark.Seen && st.guarded(a, floodmark.Secret)
}

// forms returns a token, its parts, and what these may be encodings of.
func forms(token string) []string {
	list := []string{token}
	inner := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+/=_-", r)
	}
	bare := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, split := range []func(rune) bool{inner, bare} {
		for part := range strings.FieldsFuncSeq(token, split) {
			if len(part) >= secretLength && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	for _, part := range slices.Clone(list) {
		list = append(list, decoded(part)...)
	}
	return list
}

// decoded returns what a text says if it is hex or base64 of a text.
func decoded(part string) []string {
	if len(part) < 2*secretLength {
		return nil
	}
	var list []string
	add := func(b []byte, err error) {
		if err == nil && len(b) >= secretLength && utf8.Valid(b) {
			list = append(list, string(b))
		}
	}
	add(hex.DecodeString(part))
	plain := strings.TrimRight(part, "=")
	add(base64.RawStdEncoding.DecodeString(plain))
	add(base64.RawURLEncoding.DecodeString(plain))
	return list
}
