package lockfile

import (
	"encoding/hex"
	"strings"
)

// readPip reads a file of requirements with versions and hashes. A line that names another file,
// another index or an address is left out.
func readPip(text string) (l List) {
	text = strings.ReplaceAll(text, "\\\r\n", " ")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = withoutComment(line)
		if line == "" || line == "--require-hashes" {
			continue
		}
		list, ok := requirement(line)
		if !ok {
			l.LeftOut++
			continue
		}
		l.Packages = append(l.Packages, list...)
	}
	return l
}

// withoutComment returns a line without its comment. A «#» inside a word does not begin a comment.
func withoutComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, "\t#")
	return strings.TrimSpace(line)
}

// requirement reads «name[extra]==1.0 ; marker --hash=sha256:…».
func requirement(line string) (list []Package, ok bool) {
	words := strings.Fields(line)
	first := len(words)
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			first = i
			break
		}
	}
	spec, _, _ := strings.Cut(strings.Join(words[:first], " "), ";")
	name, version, pinned := strings.Cut(strings.ReplaceAll(spec, " ", ""), "==")
	name, extra, has := strings.Cut(name, "[")
	if !pinned || has && !strings.HasSuffix(extra, "]") || !pipName(name) || !pipVersion(version) || first == len(words) {
		return nil, false
	}
	for _, w := range words[first:] {
		digits, hash := strings.CutPrefix(w, "--hash=sha256:")
		const bytes = 32
		if raw, err := hex.DecodeString(digits); !hash || err != nil || len(raw) != bytes || digits != strings.ToLower(digits) {
			return nil, false
		}
		list = append(list, Package{PyPI, PipName(name), version, "sha256:" + digits})
	}
	return list, true
}

func pipName(name string) bool { return len(name) <= maxName && only(name, "-._") && alnum(name) }

// PipName returns a name in the form of an index: in lower case, with one hyphen for each run of
// hyphens, dots and underscores.
func PipName(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-._", r) })
	return strings.Join(parts, "-")
}

func pipVersion(v string) bool {
	return len(v) <= maxVersion && only(v, ".!+_-") && alnum(v)
}
