package lockfile

import (
	"encoding/base64"
	"strings"
)

// readGo reads a go.sum. Such a file may also pin versions that are not used any more.
func readGo(text string) (l List) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 || !goModule(f[0]) || !goVersion(strings.TrimSuffix(f[1], GoMod)) || !goHash(f[2]) {
			l.LeftOut++
			continue
		}
		l.Packages = append(l.Packages, Package{Go, f[0], f[1], f[2]})
	}
	return l
}

// goModule reports whether a name is that of a module that a proxy can serve, with a host as its
// first part.
func goModule(name string) bool {
	first, rest, more := strings.Cut(name, "/")
	if len(name) > maxName || !strings.Contains(first, ".") || !only(first, "-.") || strings.HasPrefix(first, "-") || first != strings.ToLower(first) {
		return false
	}
	if dotted(first) {
		return false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if more && (part == "" || !only(part, "-._~") || dotted(part)) {
			return false
		}
	}
	return true
}

// dotted reports whether a part of a path begins or ends with a dot.
func dotted(part string) bool { return strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") }

func goVersion(v string) bool {
	rest, ok := strings.CutPrefix(v, "v")
	plain := strings.TrimSuffix(rest, "+incompatible")
	return ok && !strings.Contains(plain, "+") && semantic(plain)
}

// semantic reports whether a text is a semantic version: three numbers, perhaps followed by a
// pre-release and a build.
func semantic(v string) bool {
	if len(v) > maxVersion || !only(v, ".-+") {
		return false
	}
	v, build, built := strings.Cut(v, "+")
	release, before, early := strings.Cut(v, "-")
	numbers := strings.Split(release, ".")
	for _, n := range numbers {
		if n == "" || strings.Trim(n, "0123456789") != "" || len(n) > 1 && n[0] == '0' {
			return false
		}
	}
	return len(numbers) == 3 && (!early || pieces(before)) && (!built || pieces(build))
}

// pieces reports whether a text consists of words separated by dots.
func pieces(text string) bool {
	for w := range strings.SplitSeq(text, ".") {
		if w == "" || !only(w, "-") {
			return false
		}
	}
	return true
}

func goHash(h string) bool {
	const bytes = 32
	rest, ok := strings.CutPrefix(h, "h1:")
	raw, err := base64.StdEncoding.DecodeString(rest)
	return ok && err == nil && len(raw) == bytes && base64.StdEncoding.EncodeToString(raw) == rest
}
