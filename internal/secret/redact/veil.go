package redact

import (
	_ "embed"
	"iter"
	"regexp"
	"slices"
	"strings"
)

var (
	//go:embed data/signs-of-keys.txt
	signsOfKeys string
	//go:embed data/signs-of-names.txt
	signsOfNames string
)

// veil replaces a credential.
const veil = "[hidden]"

// credentials matches keys of well-known makers. Together with assigned and insideAddress it covers
// what must not be recorded or shown even if a person may read the rest of a text. Groups in these
// patterns are kept. Each pattern is searched only if the text contains one of its signs.
const credentials = `(?i)\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_])?[a-z0-9][a-z0-9_-]{15,}` +
	`|\b(?:ghp|gho|ghu|ghs|ghr|npm|hf|glpat|dop_v1|shpat|xox[abeoprs])[-_][a-z0-9][a-z0-9_-]{9,}` +
	`|\bgithub_pat_[a-z0-9_]{20,}` +
	`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9a-z_-]{30,}|\bya29\.[0-9a-z_-]{20,}` +
	`|\beyJ[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}(?:\.[a-z0-9_-]*)?`

// wholeKey matches a private key and everything after it.
const wholeKey = `|-----BEGIN[^-]*PRIVATE KEY-----.*`

const assigned = `(?i)((?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization|bearer|auth)["']?\s*[:= ]\s*["']?(?:bearer |basic )?)[^\s"'&;]{6,}`

const insideAddress = `(://[^/\s:@]*:)[^/\s@]+(@)`

// keySigns yields the signs, in lower case, of which a text must contain one before it is searched
// for keys. Looking for signs is much cheaper, and most arguments contain none.
func keySigns() iter.Seq[string] { return strings.FieldsSeq(signsOfKeys) }

func nameSigns() iter.Seq[string] { return strings.FieldsSeq(signsOfNames) }

// holds reports whether a text holds one of the signs.
func holds(lower string, signs iter.Seq[string]) bool {
	for sign := range signs {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	return false
}

// The same patterns for a command line, where hiding too much would hide a command. Therefore shell
// syntax ends a credential, the word after an empty «TOKEN=» is a program, and the lines of a
// private key contain nothing else.
const (
	keyInLine      = `(?i)-----BEGIN[a-z ]{0,40}PRIVATE KEY-----(?:(?:\s|\\[nr])*[a-z0-9+/=]{40,})*(?:(?:\s|\\[nr])*[a-z0-9+/=]{1,64}(?:\s|\\[nr])*-----END[a-z ]{0,40}-----)?`
	partInLine     = `(?:[^\s"'&;|<>()$\x60{}\\@/]|\$[^\s"'&;|<>()$\x60{}\\@/])`
	wordInLine     = `(?:[^\s"'&;|<>()$\x60{}\\]|\$[^\s"'&;|<>()$\x60{}\\])`
	assignedInLine = `(?i)((?:(?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization|auth)["']?(?:=|[ \t]*:[ \t]*)["']?(?:bearer |basic )?` +
		`|:[ \t]*(?:bearer|basic) |-[-a-z]*(?:pass(?:word|wd)?|pwd|secret|token|key|credential|auth)[ ]["']?))` + wordInLine + `{6,}`
	insideAddressInLine = `(://[^/\s:@"'&;|<>()$\x60{}\\]*:)` + partInLine + `+(@)`
)

// Veils are the patterns above, compiled once because a call may have thousands of names and
// values.
type Veils struct {
	text, line looks
	wholeKey   *regexp.Regexp // matches a text that is only a private key
}

// looks are the patterns for one kind of text.
type looks struct{ keys, named, inAddress *regexp.Regexp }

// NewVeils compiles the patterns.
func NewVeils() *Veils {
	shape := func(keys, named, inAddress string) looks {
		return looks{regexp.MustCompile(keys), regexp.MustCompile(named), regexp.MustCompile(inAddress)}
	}
	return &Veils{
		text:     shape(credentials+wholeKey, assigned, insideAddress),
		line:     shape(credentials+"|"+keyInLine, assignedInLine, insideAddressInLine),
		wholeKey: regexp.MustCompile(`^(?:` + keyInLine + `)$`),
	}
}

// Text returns a text without the secrets that a detector finds and without anything that could be
// a credential.
func (v *Veils) Text(d *Detector, text string) string {
	return v.text.cover(Without(d, unforged(text)))
}

// Line does the same for a command line. It never hides a command, so that an approver sees what
// would run.
func (v *Veils) Line(d *Detector, text string) string {
	text = unforged(text)
	for _, s := range slices.Backward(d.Find(text)) {
		found := text[s.Start:s.End]
		if !inHost(text, s.Start, s.End) && (!strings.ContainsAny(found, " \t\r\n\"'&;|<>()$`{}\\") || v.wholeKey.MatchString(found)) {
			text = text[:s.Start] + veil + text[s.End:]
		}
	}
	return v.line.cover(text)
}

// cover replaces what the patterns match, except for their groups.
func (s looks) cover(text string) string {
	lower := strings.ToLower(text)
	if holds(lower, keySigns()) {
		for _, at := range slices.Backward(s.keys.FindAllStringIndex(text, -1)) {
			if !inHost(text, at[0], at[1]) {
				text = text[:at[0]] + veil + text[at[1]:]
			}
		}
	}
	if holds(lower, nameSigns()) {
		text = s.named.ReplaceAllString(text, "${1}"+veil)
	}
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = s.inAddress.ReplaceAllString(text, "${1}"+veil+"${2}")
	}
	return text
}

// Without returns a text without the secrets that a detector finds.
func Without(d *Detector, text string) string {
	for _, s := range slices.Backward(d.Find(text)) {
		if !inHost(text, s.Start, s.End) {
			text = text[:s.Start] + veil + text[s.End:]
		}
	}
	return text
}

// inHost reports whether a part of a text belongs to the name of a host after «://» or an @.
// Destinations are never hidden, even if they look like a secret.
func inHost(text string, start, end int) bool {
	begin := len(strings.TrimRightFunc(text[:start], hostRune))
	rest := strings.TrimLeftFunc(text[end:], hostRune)
	host := text[begin : len(text)-len(rest)]
	if strings.ContainsFunc(host, func(r rune) bool { return !hostRune(r) }) || !strings.Contains(host, ".") {
		return false
	}
	if stop := strings.IndexAny(rest, "/?# \t\r\n\"'"); stop >= 0 {
		rest = rest[:stop]
	}
	// Text before an @ is a user name or a password and not a host.
	return (strings.HasSuffix(text[:begin], "://") || strings.HasSuffix(text[:begin], "@")) && !strings.Contains(rest, "@")
}

func hostRune(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// unforged changes all marks of omission in a foreign text, because only we may write such marks.
func unforged(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	b := []byte(text)
	for at := range len(text) {
		for _, mark := range []string{veil, "[redacted"} {
			if end := at + len(mark); end <= len(text) && strings.EqualFold(text[at:end], mark) {
				b[at] = '('
			}
		}
	}
	return string(b)
}
