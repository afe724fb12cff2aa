package redact

import (
	"regexp"
	"strings"

	"github.com/floodmark/floodmark"
)

// In a file for secrets, the names of values say which of them are secrets, even if these do not
// look like secrets. The code below finds such values, so that their prints recognise them wherever
// they appear again.

// maxKept bounds the values that are taken from one file.
const maxKept = 64

// A Keeper says how much of a file is secret. The zero value is everything.
type Keeper uint8

// The kinds of files with secrets.
const (
	KeepsSecrets Keeper = iota // a file for secrets, in which long random values are secrets too
	MayKeep                    // a file that may contain credentials, among other things
	KeepsNone                  // no value of the file is taken
)

// values returns the shapes of values, compiled once per detector.
func (d *Detector) values() *values {
	if d == nil || d.kept == nil {
		return newValues()
	}
	return d.kept()
}

// Kept returns prints of the secrets in the text of a file with this name. For a value that is
// short or like a word, the print is made of its name and the value together, because the value
// alone may occur in any text.
func (d *Detector) Kept(p *Printer, name, text string, k Keeper) []floodmark.SecretSpan {
	if k == KeepsNone {
		return nil
	}
	rule := "kept in " + name
	var list []floodmark.SecretSpan
	add := func(key, value string) {
		if placeholder(value) || len(list) >= maxKept {
			return
		}
		if weak(value) {
			value = key + value
		}
		if s := p.Span(Span{Rule: rule}, value); s.Print != "" {
			list = append(list, s)
		}
	}
	shapes := d.values()
	for _, m := range shapes.named.FindAllStringSubmatch(text, maxKept) {
		add(m[1], value(m[2]))
	}
	for _, m := range shapes.inURL.FindAllStringSubmatch(text, maxKept) {
		add("", m[1])
	}
	for _, s := range d.Find(text) {
		add("", text[s.Start:s.End])
	}
	if strings.HasPrefix(name, ".pgpass") {
		for line := range strings.Lines(text) { // host:port:database:user:password
			if at := strings.LastIndexByte(line, ':'); at >= 0 {
				add(line[:at], value(line[at+1:]))
			}
		}
	}
	if k == KeepsSecrets {
		for _, run := range shapes.long.FindAllString(text, maxKept) {
			if strings.ContainsAny(run, "0123456789") && entropy(run) > longEntropy {
				add("", run)
			}
		}
	}
	return list
}

// longEntropy is the entropy per character above which a long value is treated as random. Names,
// paths and versions have less.
const longEntropy = 3.5

// values are the patterns for the values in files for secrets.
type values struct{ named, inURL, long *regexp.Regexp }

func newValues() *values {
	return &values{
		named: regexp.MustCompile(`(?i)([a-z0-9_.\-]*(?:pass|pwd|secret|token|key|credential|auth)[a-z0-9_.\-]*)["']?(?:[ \t]*(?:=>|[=:,>])[ \t]*|[ \t]+)("[^"\n]*"|'[^'\n]*'|[^\n<]*)`),
		inURL: regexp.MustCompile(`://[^/\s:@]*:([^/\s@]+)@`),
		long:  regexp.MustCompile(`[A-Za-z0-9+_\-]{20,}`),
	}
}

// value returns the text after a name without quotation marks, comments and punctuation.
func value(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimRight(text, " \t;,)\"'")
}

// placeholder reports whether a value is not a secret itself but something in its place: a word
// such as «changeme», a switch, or a reference to a file or variable.
func placeholder(value string) bool {
	file := strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "./")
	if file || strings.HasPrefix(value, "$") || strings.HasPrefix(value, "<") {
		return true
	}
	for _, hint := range [...]string{"${", "$(", "{{", "ENV[", "env(", "env."} {
		if strings.Contains(value, hint) {
			return true
		}
	}
	switch bare := strings.ToLower(Squeezed(value)); bare {
	case "true", "false", "yes", "none", "null", "localhost", "changeme", "password", "secret", "example":
		return true
	default:
		return len(bare) < 3 || strings.HasPrefix(bare, "your") || strings.Trim(bare, "x") == ""
	}
}

// weak reports whether a value may occur in other texts by chance, because it is short, a word or a
// number.
func weak(value string) bool {
	bare := Squeezed(value)
	letters := strings.Trim(bare, "0123456789") != ""
	mixed := letters && strings.ContainsAny(bare, "0123456789")
	return len(bare) < leastPrint || !mixed && len(bare) < 12
}
