package approval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/deeds"
)

// The limits of what a question keeps of long values: of one that is searched for secrets, and of
// all that are kept. People do not read more before approving.
const (
	maxVeiled = 64 << 10
	maxKept   = 16 << 10
)

// Wholes are the values of a call that their short forms do not fully show, within the limits.
// Content and secrets have no short form and are not among them. Veil removes secrets from a value.
// Their characters count as left out, because a supposed secret may be the folder that a command
// deletes.
func Wholes(args []floodmark.Argument, leaves []hook.Leaf, veil func(i int, text string) string) (list []floodmark.Whole) {
	room := maxKept
	for i, a := range args {
		if i >= len(leaves) || a.Shown == "" || leaves[i].Value == a.Shown {
			continue
		}
		text := kept(leaves[i].Value, func(text string) string { return veil(i, text) })
		w := floodmark.Whole{Argument: i, Text: text[:min(room, len(text))]}
		for w.Text != "" && !utf8.ValidString(w.Text) {
			w.Text = w.Text[:len(w.Text)-1] // a character was cut
		}
		w.Left = unshown(leaves[i].Value, w.Text)
		if w.Text != "" && w.Text == deeds.WithoutTokens(leaves[i].Value, hidden) {
			w.Left = 0
		}
		room -= len(w.Text)
		list = append(list, w)
	}
	return list
}

// hidden is what package redact writes in place of a secret. It cannot be forged: package redact
// changes such marks in foreign text.
const hidden = "[hidden]"

// unshown counts the characters of a value that its shown form lacks.
func unshown(value, shown string) int {
	marks := strings.Count(shown, hidden)
	return max(min(marks, 1), utf8.RuneCountInString(value)-utf8.RuneCountInString(shown)+marks*len(hidden))
}

// kept returns a value without its secrets; empty if it is too long, or if a secret hides between
// invisible characters.
func kept(value string, veil func(string) string) string {
	if len(value) > maxVeiled || !utf8.ValidString(value) {
		return ""
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) {
			return -1
		}
		return r
	}, value)
	if bare != value && veil(bare) != bare {
		return ""
	}
	return veil(value)
}

// value is an argument as it is shown: whole if that is kept.
func (q Question) value(i int) string {
	if at := q.wholeAt(i); at >= 0 && q.Whole[at].Text != "" {
		return q.Whole[at].Text
	}
	return q.Action.Arguments[i].Shown
}

// whole reports whether all of an argument is shown.
func (q Question) whole(i int) bool {
	if at := q.wholeAt(i); at >= 0 {
		return q.Whole[at].Left == 0
	}
	return !q.note(i).Cut
}

func (q Question) wholeAt(i int) int {
	return slices.IndexFunc(q.Whole, func(w floodmark.Whole) bool { return w.Argument == i })
}

// lost counts the characters that matter and are shown nowhere.
func (q Question) lost() int {
	n := 0
	for _, w := range q.Whole {
		n += w.Left
	}
	for i, a := range q.Action.Arguments {
		if a.Role != floodmark.Content && a.Shown != "" && (q.note(i).Cut || strings.Contains(a.Shown, hidden)) && q.wholeAt(i) < 0 {
			n++ // an older journal has no count
		}
	}
	return n
}

// Beware warns about what a call carries and a person does not see.
func Beware(reasons []floodmark.Reason) (list []string) {
	for _, r := range reasons {
		switch r.Code {
		case floodmark.ActiveContent:
			list = append(list, "Its text may hold a link, address or account that is not from you.")
		case floodmark.FlowSecret:
			list = append(list, "It may let out a password or key.")
		default:
		}
	}
	return list
}
