package kernel

import (
	"regexp"
	"slices"
	"strings"
)

// veil is what stands where a credential was.
const veil = "[hidden]"

// credentials are the shapes of what must not be written down or shown even
// where a person may read the rest: keys of well-known makers, what follows a
// word such as «password=», and the password inside an address. The first
// group, if there is one, stays. They are compiled only where a sign of them is
// there.
const credentials = `(?i)\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_])?[a-z0-9][a-z0-9_-]{15,}` +
	`|\b(?:ghp|gho|ghu|ghs|ghr|npm|hf|glpat|dop_v1|shpat|xox[abeoprs])[-_][a-z0-9][a-z0-9_-]{9,}` +
	`|\bgithub_pat_[a-z0-9_]{20,}` +
	`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9a-z_-]{30,}|\bya29\.[0-9a-z_-]{20,}` +
	`|\beyJ[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}(?:\.[a-z0-9_-]*)?`

// wholeKey is a private key, with all that follows.
const wholeKey = `|-----BEGIN[^-]*PRIVATE KEY-----.*`

const assigned = `(?i)((?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization|bearer|auth)["']?\s*[:= ]\s*["']?(?:bearer |basic )?)[^\s"'&;]{6,}`

const insideAddress = `(://[^/\s:@]*:)[^/\s@]+(@)`

// What a text must hold, in lower case, for each shape to be looked for. Looking
// costs far more than this, and the usual argument holds none of it.
func keySigns() []string {
	return []string{
		"sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp", "gho", "ghu", "ghs", "ghr", "npm-", "npm_", "hf-", "hf_", "glpat", "dop_v1", "shpat", "xox",
		"github_pat_", "akia", "asia", "aiza", "ya29.", "eyj", "-----begin",
	}
}

func nameSigns() []string {
	return []string{"pass", "pwd", "secret", "token", "key", "credential", "auth", "bearer"}
}

// The same in a command line, where hiding too much would hide a command: what a
// shell acts upon ends a credential, a word behind an empty «TOKEN=» is a
// program, and a key's lines hold nothing else.
const (
	keyInLine      = `(?i)-----BEGIN[a-z ]{0,40}PRIVATE KEY-----(?:(?:\s|\\[nr])*[a-z0-9+/=]{40,})*(?:(?:\s|\\[nr])*[a-z0-9+/=]{1,64}(?:\s|\\[nr])*-----END[a-z ]{0,40}-----)?`
	partInLine     = `(?:[^\s"'&;|<>()$\x60{}\\@/]|\$[^\s"'&;|<>()$\x60{}\\@/])`
	wordInLine     = `(?:[^\s"'&;|<>()$\x60{}\\]|\$[^\s"'&;|<>()$\x60{}\\])`
	assignedInLine = `(?i)((?:(?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization|auth)["']?(?:=|[ \t]*:[ \t]*)["']?(?:bearer |basic )?` +
		`|:[ \t]*(?:bearer|basic) |-[-a-z]*(?:pass(?:word|wd)?|pwd|secret|token|key|credential|auth)[ ]["']?))` + wordInLine + `{6,}`
	insideAddressInLine = `(://[^/\s:@"'&;|<>()$\x60{}\\]*:)` + partInLine + `+(@)`
)

// veiled returns text without the credentials in it: what the detector finds,
// and whatever else could be one.
func (st *step) veiled(text string) string {
	return covered(st.withoutSecrets(text), credentials+wholeKey, assigned, insideAddress)
}

// veiledLine is the same for a command line: no command in it is ever hidden,
// or nobody could say what he agrees to.
func (st *step) veiledLine(text string) string {
	whole := regexp.MustCompile(`^(?:` + keyInLine + `)$`)
	for _, s := range slices.Backward(st.r.secrets.Find(text)) {
		if found := text[s.Start:s.End]; !strings.ContainsAny(found, " \t\r\n\"'&;|<>()$`{}\\") || whole.MatchString(found) {
			text = text[:s.Start] + veil + text[s.End:]
		}
	}
	return covered(text, credentials+"|"+keyInLine, assignedInLine, insideAddressInLine)
}

// covered puts the veil where the patterns match, but for their groups.
func covered(text, keys, named, inAddress string) string {
	lower := strings.ToLower(text)
	holds := func(sign string) bool { return strings.Contains(lower, sign) }
	if slices.ContainsFunc(keySigns(), holds) {
		text = regexp.MustCompile(keys).ReplaceAllString(text, veil)
	}
	if slices.ContainsFunc(nameSigns(), holds) {
		text = regexp.MustCompile(named).ReplaceAllString(text, "${1}"+veil)
	}
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = regexp.MustCompile(inAddress).ReplaceAllString(text, "${1}"+veil+"${2}")
	}
	return text
}

// withoutSecrets returns text without the secrets the detector finds.
func (st *step) withoutSecrets(text string) string {
	spans := st.r.secrets.Find(text)
	for _, s := range slices.Backward(spans) {
		text = text[:s.Start] + veil + text[s.End:]
	}
	return text
}
