// Package lookalike knows which characters look like others and which are invisible.
package lookalike

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Append appends the plain characters that r looks like, and nothing if r is invisible. If lower is
// set, they are appended in lower case.
func Append(dst []byte, r rune, lower bool) []byte {
	if Invisible(r) {
		return dst
	}
	if r == '…' {
		return append(dst, "..."...)
	}
	if letters := Ligature(r); letters != "" {
		return append(dst, letters...)
	}
	folded := Of(r)
	if folded == r && lower {
		folded = Of(unicode.ToLower(r))
	}
	if lower && folded >= 'A' && folded <= 'Z' {
		folded += 'a' - 'A'
	}
	return utf8.AppendRune(dst, folded)
}

// Invisible reports whether r has no shape of its own. These are zero-width and direction
// characters, accents that combine with a letter, variation selectors and tags.
func Invisible(r rune) bool {
	switch {
	case r < 0x20 || (r >= 0x7f && r < 0xa0):
		return !unicode.IsSpace(r)
	case r == 0xad, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x300 && r <= 0x36f, r >= 0x1ab0 && r <= 0x1aff, r >= 0x1dc0 && r <= 0x1dff:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e:
		return true
	case r >= 0x2060 && r <= 0x206f, r >= 0x20d0 && r <= 0x20ff, r == 0x3164:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfe20 && r <= 0xfe2f, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0xfff9 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// Ligature returns the letters that r is made of, or nothing.
func Ligature(r rune) string {
	switch r {
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case 'ﬅ', 'ﬆ':
		return "st"
	}
	return ""
}

// latinBase contains the plain letter for every letter from U+00C0 to U+017F, and '?' for letters
// without one.
const latinBase = "aaaaaa?ceeeeiiiidnoooooxouuuuy??aaaaaa?ceeeeiiiidnooooo?ouuuuy?y" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii??jjkkkllllllllllnnnnnnn??oooooo??rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

// Of returns the plain character that r can be mistaken for, or r.
func Of(r rune) rune {
	switch {
	case r < 0xc0:
		return punctuationLike(r)
	case r < 0x180:
		return latinLike(r)
	case r >= 0x370 && r < 0x400:
		return greekLike(r)
	case r >= 0x400 && r < 0x530:
		return cyrillicLike(r)
	case r >= 0x2000 && r < 0x3100, r >= 0xfe10 && r < 0xfe70:
		return punctuationLike(r)
	case r >= 0xff01 && r <= 0xff5e: // fullwidth
		return r - 0xfee0
	case r >= 0x1d400 && r < 0x1d6a4: // mathematical letters: 13 alphabets
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		return rune(alphabet[(r-0x1d400)%52])
	case r >= 0x1d7ce && r <= 0x1d7ff: // mathematical digits: 5 sets
		return '0' + (r-0x1d7ce)%10
	case r >= 0x1f130 && r <= 0x1f149: // squared letters
		return 'A' + r - 0x1f130
	}
	return r
}

func latinLike(r rune) rune {
	base := rune(latinBase[r-0xc0])
	switch {
	case base == '?':
		return r
	case unicode.IsUpper(r):
		return base - ('a' - 'A')
	}
	return base
}

func greekLike(r rune) rune {
	const like = "ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXΪIΫYαaάaβbεeέeζzηnήnιiίiϊiΐiκkνvοoόoρpτtυuύuϋuΰuχxγyωwώwϲcϳj"
	return paired(like, r)
}

// cyrillicLike maps letters to letters only, because a word must not turn into an id with digits.
func cyrillicLike(r rune) rune {
	const like = "АAВBЕEЁEЀEІIЇIЈJКKЌKМMНHОOРPСCТTУYЎYХXЅSҮYԚQԜWһhҺHԁdԀDԛqԝwѵvѴVӏlӀI" +
		"аaвbеeёeѐeіiїiјjкkќkмmнhоoрpсcтtуyўyхxѕsүy"
	return paired(like, r)
}

func punctuationLike(r rune) rune {
	const like = "‐-‑-‒-–-—-―-−-﹘-﹣-⁃-‘'’'‚'‛'′'‵'‹'›'´'“\"”\"„\"‟\"″\"«\"»\"〝\"〞\"∕/⁄/․.。.﹒.∶:﹕:﹫@﹟#⁎*∗*‚,﹐,﹔;﹖?﹗!" +
		"ⒶAⒷBⒸCⒹDⒺEⓐaⓑbⓒcⓓdⓔe℮eℊgℎhℓlℯeℴoKKÅAℂCℍHℕNℙPℚQℝRℤZ〜~∼~⁓~¨\""
	if r < 0xa8 {
		return r
	}
	return paired(like, r)
}

// paired looks up r in a list of characters, each of which is followed by the character it looks
// like.
func paired(list string, r rune) rune {
	at := strings.IndexRune(list, r)
	if at < 0 {
		return r
	}
	return rune(list[at+utf8.RuneLen(r)])
}
