package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Forms returns a token, its parts, and the texts that these may encode. Parts and texts shorter
// than length are left out.
func Forms(token string, length int) []string {
	list := []string{token}
	inner := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+/=_-", r)
	}
	bare := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, split := range []func(rune) bool{inner, bare} {
		for part := range strings.FieldsFuncSeq(token, split) {
			if len(part) >= length && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	for _, part := range slices.Clone(list) {
		list = append(list, decoded(part, length)...)
	}
	return list
}

// decoded returns the texts that a part may encode in hex or base64.
func decoded(part string, length int) []string {
	if len(part) < 2*length {
		return nil
	}
	var list []string
	add := func(b []byte, err error) {
		if err == nil && len(b) >= length && utf8.Valid(b) {
			list = append(list, string(b))
		}
	}
	add(hex.DecodeString(part))
	plain := strings.TrimRight(part, "=")
	add(base64.RawStdEncoding.DecodeString(plain))
	add(base64.RawURLEncoding.DecodeString(plain))
	return list
}
