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
	`|\beyJ[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}(?:\.[a-z0-9_-]*)?` +
	`|-----BEGIN[^-]*PRIVATE KEY-----.*`

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

// veiled returns text without the credentials in it: what the detector finds,
// and whatever else could be one. Hiding too much costs a look, no more.
func (st *step) veiled(text string) string {
	text = st.withoutSecrets(text)
	lower := strings.ToLower(text)
	holds := func(sign string) bool { return strings.Contains(lower, sign) }
	if slices.ContainsFunc(keySigns(), holds) {
		text = regexp.MustCompile(credentials).ReplaceAllString(text, veil)
	}
	if slices.ContainsFunc(nameSigns(), holds) {
		text = regexp.MustCompile(assigned).ReplaceAllString(text, "${1}"+veil)
	}
	if strings.Contains(text, "://") && strings.Contains(text, "@") {
		text = regexp.MustCompile(insideAddress).ReplaceAllString(text, "${1}"+veil+"${2}")
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
