package approval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/deeds"
)

// The limits, in bytes, of the long values that a question keeps. People do not read more before
// approving.
const (
	maxVeiled = 64 << 10 // of one value, because it is searched for secrets
	maxKept   = 16 << 10 // of all values of a call
)

// Wholes returns the values of a call that their short forms do not fully show, within the limits.
// Content and secrets have no short form and are not included. Veil removes secrets from a value.
// The removed characters are counted as left out, because the folder that a command deletes may
// look like a secret.
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

// hidden is what package redact writes in place of a secret. Foreign text cannot forge it, because
// package redact changes such marks in that text.
const hidden = "[hidden]"

// unshown counts the characters of a value that its shown form lacks.
func unshown(value, shown string) int {
	marks := strings.Count(shown, hidden)
	return max(min(marks, 1), utf8.RuneCountInString(value)-utf8.RuneCountInString(shown)+marks*len(hidden))
}

// kept returns a value without its secrets. It returns "" if the value is too long, or if removing
// invisible characters would reveal a secret.
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

// value returns an argument as it is shown: its kept value or else its short form.
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

// lost returns how many characters of the values that matter are shown nowhere.
func (q Question) lost() int {
	n := 0
	for _, w := range q.Whole {
		n += w.Left
	}
	for i, a := range q.Action.Arguments {
		if a.Role != floodmark.Content && a.Shown != "" && (q.note(i).Cut || strings.Contains(a.Shown, hidden)) && q.wholeAt(i) < 0 {
			n++ // older journals do not record how many
		}
	}
	return n
}

// Beware returns warnings about data in a call that a person does not see.
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
