package kernel

import (
	"regexp"
	"strings"
)

// veil is what stands where a credential was.
const veil = "[hidden]"

// credentials are the shapes of what must not be written down or shown even
// where a person may read the rest: keys of well-known makers, what follows a
// word such as «password=», and the password inside an address. The first
// group, if there is one, stays. It is compiled at each use that needs it, which
// is rare: see [mayHide].
const credentials = `(?i)\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|ant[-_]|proj[-_])?[a-z0-9][a-z0-9_-]{15,}` +
	`|\b(?:ghp|gho|ghu|ghs|ghr|npm|hf|glpat|dop_v1|shpat|xox[abeoprs])[-_][a-z0-9][a-z0-9_-]{9,}` +
	`|\bgithub_pat_[a-z0-9_]{20,}` +
	`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9a-z_-]{30,}|\bya29\.[0-9a-z_-]{20,}` +
	`|\beyJ[a-z0-9_-]{10,}\.[a-z0-9_-]{10,}(?:\.[a-z0-9_-]*)?` +
	`|-----BEGIN[^-]*PRIVATE KEY-----.*`

const assigned = `(?i)((?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|access[-_]?key|credential|authorization|bearer|auth)["']?\s*[:= ]\s*["']?(?:bearer |basic )?)[^\s"'&;]{6,}`

const insideAddress = `(://[^/\s:@]*:)[^/\s@]+(@)`

// mayHide reports whether a text could hold a credential at all, so that the
// usual argument costs nothing.
func mayHide(text string) bool {
	if len(text) < 8 {
		return false
	}
	lower := strings.ToLower(text)
	for _, sign := range []string{
		"sk-", "sk_", "pk_", "rk_", "gh", "npm_", "hf_", "glpat", "dop_", "shpat", "xox", "akia", "asia", "aiza", "ya29.", "eyj", "-----begin",
		"pass", "pwd", "secret", "token", "key", "credential", "auth", "bearer",
	} {
		if strings.Contains(lower, sign) {
			return true
		}
	}
	return strings.Contains(text, "://") && strings.Contains(text, "@")
}

// veiled returns text without the credentials in it.
func veiled(text string) string {
	if !mayHide(text) {
		return text
	}
	text = regexp.MustCompile(credentials).ReplaceAllString(text, veil)
	text = regexp.MustCompile(assigned).ReplaceAllString(text, "${1}"+veil)
	return regexp.MustCompile(insideAddress).ReplaceAllString(text, "${1}"+veil+"${2}")
}
