package catalog

import (
	"slices"
	"strings"
)

// meets reports whether some path matches both pat, a pattern of a list, and segs, one that a shell
// would expand. In segs, «*» alone does not match names that begin with a dot, and «[…]» is treated
// as any one character.
func meets(pat Segments, segs []string) bool {
	row := make([]bool, len(segs)+1) // row[k]: the rest of pat meets segs[k:]
	row[len(segs)] = true
	for k := len(segs) - 1; k >= 0 && segs[k] == "**"; k-- {
		row[k] = true
	}
	for _, p := range slices.Backward(pat) {
		next := make([]bool, len(segs)+1)
		next[len(segs)] = p == "**" && row[len(segs)]
		for k := len(segs) - 1; k >= 0; k-- {
			switch {
			case p == "**":
				next[k] = row[k] || next[k+1] || segs[k] == "**" && row[k+1]
			case segs[k] == "**":
				next[k] = next[k+1] || row[k]
			default:
				next[k] = row[k+1] && meetsName(p, segs[k])
			}
		}
		row = next
	}
	return row[0]
}

// meetsName reports whether some name matches both patterns.
func meetsName(pat, seg string) bool {
	if !strings.ContainsAny(seg, "*?[") {
		return matchSegment(pat, seg)
	}
	if strings.HasPrefix(pat, ".") && strings.IndexByte("*?[", seg[0]) >= 0 {
		return false
	}
	seg = unbracket(seg)
	row := make([]bool, len(seg)+1)
	row[len(seg)] = true
	for k := len(seg) - 1; k >= 0 && seg[k] == '*'; k-- {
		row[k] = true
	}
	for i := len(pat) - 1; i >= 0; i-- {
		next := make([]bool, len(seg)+1)
		next[len(seg)] = pat[i] == '*' && row[len(seg)]
		for k := len(seg) - 1; k >= 0; k-- {
			switch {
			case pat[i] == '*' || seg[k] == '*':
				next[k] = row[k] && pat[i] == '*' || next[k+1] && (pat[i] == '*' || seg[k] == '*') || seg[k] == '*' && row[k]
			default:
				next[k] = row[k+1] && (pat[i] == '?' || seg[k] == '?' || pat[i] == seg[k] || seg[k] == anyAlnum && letterOrDigit(pat[i]))
			}
		}
		row = next
	}
	return row[0]
}

// anyAlnum stands for any one letter or digit in a name.
const anyAlnum = '\x01'

// unbracket writes «?» for every set of characters, but for that of all letters
// and digits.
func unbracket(seg string) string {
	for {
		i := strings.IndexByte(seg, '[')
		if i < 0 {
			return seg
		}
		n := strings.IndexByte(seg[i+1:], ']')
		if n < 0 {
			return strings.ReplaceAll(seg, "[", "?")
		}
		one := "?"
		if set := strings.ToLower(seg[i+1 : i+1+n]); set == "0-9a-za-z" {
			one = string(anyAlnum)
		}
		seg = seg[:i] + one + seg[i+1+n+1:]
	}
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
