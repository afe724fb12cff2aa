package catalog

import (
	"path"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark/internal/text/lookalike"
)

// foldPath writes a clean path as the most forgiving file system would take it: without regard to
// case, invisible characters, dots and blanks at the end of a name, and the stream of a file. Use
// it to find guarded paths, never to trust one.
func foldPath(text string) string {
	if plainPath(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for _, r := range text {
		if !unseen(r) {
			b.WriteString(foldRune(r))
		}
	}
	segs := strings.Split(b.String(), "/")
	for i, seg := range segs {
		segs[i] = foldSegment(seg)
	}
	return path.Clean(strings.Join(segs, "/"))
}

// plainPath reports whether a path needs no folding except for case.
func plainPath(text string) bool {
	last := byte('/')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= 0x7f || c == ':' || c == '/' && (last == '.' || last == ' ') {
			return false
		}
		last = c
	}
	return last != '.' && last != ' '
}

// unseen reports whether some file system or some reader drops a character.
func unseen(r rune) bool {
	switch {
	case r < ' ', r == 0x7f, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == unicode.ReplacementChar:
		return true
	case r < 0x80:
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector)
}

// foldRune folds the case of one character, to several letters where a file system with full
// folding would: «ﬁ» is «fi». It maps to upper case first, because «ſ» and «ı» have a plain upper
// case only.
func foldRune(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'İ':
		return "i"
	}
	if letters := lookalike.Ligature(r); letters != "" {
		return letters
	}
	return string(unicode.ToLower(unicode.ToUpper(unicode.ToLower(r))))
}

// foldSegment drops what Windows drops from a name: the part after a colon, and dots and blanks at
// the end. A drive keeps its colon.
func foldSegment(seg string) string {
	if i := strings.IndexByte(seg, ':'); i > 0 && len(seg) > 2 {
		seg = seg[:i]
	}
	if short := strings.TrimRight(seg, ". "); short != "" {
		return short
	}
	return seg
}

// mounted returns how many leading segments only name a mount point: /private/etc is /etc,
// /mnt/c/Users holds homes.
func mounted(segs []string) int {
	letter := func(i int) bool { return len(segs) > i && len(strings.TrimSuffix(segs[i], ":")) == 1 && segs[i] != "~" }
	is := func(names ...string) bool {
		if len(segs) < len(names) {
			return false
		}
		for i, n := range names {
			if n != "*" && segs[i] != n {
				return false
			}
		}
		return true
	}
	switch {
	case is("system", "volumes", "data"), is("proc", "*", "root"):
		return 3
	case is("volumes", "*"), is("mnt", "*") && letter(1), is("cygdrive", "*"), is("mnt", "wsl"):
		return 2
	case is("private"), is("host"), is("rootfs"), is("?"), is("var", "home"), is("export", "home"), is("usr", "home"), letter(0):
		return 1
	}
	return 0
}
