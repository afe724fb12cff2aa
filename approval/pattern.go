package approval

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// Word returns a text as written in a pattern, in quotes if it could be mistaken for something
// else.
func Word(text string) string {
	odd := number(text) || text == "" || text == "true" || text == "false" || text == "null" ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '=' || r == '"' || r == '\\' || !strconv.IsPrint(r) })
	if odd {
		return strconv.Quote(text)
	}
	return text
}

// number reports whether a text is a number. It checks the first byte before the slow library call.
func number(text string) bool {
	if text == "" || strings.IndexByte("+-.0123456789iInN", text[0]) < 0 {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Wild reports whether a value names many things at once.
func Wild(value string) bool {
	if strings.Contains(value, "://") {
		return strings.Contains(value, "*")
	}
	switch strings.ToLower(strings.TrimLeft(value, "@#")) {
	case "all", "everyone", "everybody", "channel", "here", "any":
		return true
	}
	return strings.ContainsAny(value, "*?{}")
}

// Flowed reports whether one of the reasons is that data could leave.
func Flowed(codes []floodmark.Code) bool {
	return slices.ContainsFunc(codes, func(c floodmark.Code) bool {
		return c == floodmark.FlowSecret || c == floodmark.Undescribed || c == floodmark.FlowPrivate || c == floodmark.FlowFetch || c == floodmark.ActiveContent
	})
}

// Wider returns the pattern of the wider approval a question may offer: the same tool with the same
// values in every argument that matters, and any content. There is none for a call that changes the
// agent, runs code, puts code into a repository, or names many things at once. Two calls have the
// same pattern only if every byte of it is the same. The argument at address is where a read goes;
// -1 if it goes nowhere.
func (s *Subject) Wider(address int) string {
	effects := s.Action.Effects
	if s.Basis.Undescribed || !s.Keeps || slices.Contains(effects, floodmark.Run) || slices.Contains(effects, floodmark.Admin) {
		return ""
	}
	if n := len(s.Action.Arguments); n > 0 && s.Action.Arguments[n-1].Path == floodmark.CommandAddress {
		return "" // a command line has more to say than its addresses
	}
	if len(effects) == 1 && effects[0] == floodmark.Fetch && address >= 0 {
		return s.hostPattern(address)
	}
	return s.spelled("", nil)
}

// spelled returns a pattern with every argument that matters, except those whose index is in
// except. It is empty if an argument cannot be written in full, because a person approves in
// general only what was shown in full.
func (s *Subject) spelled(first string, except []int) string {
	parts := []string{s.Action.Tool.String()}
	if first != "" {
		parts = append(parts, first)
	}
	for i, a := range s.Action.Arguments {
		if a.Role == floodmark.Content || slices.Contains(except, i) {
			continue
		}
		if slices.Contains(s.Basis.Cut, i) || Wild(a.Shown) {
			return ""
		}
		value := a.Shown
		if kind := s.Basis.Kind(i); kind == floodmark.TextValue || kind == floodmark.NoText {
			value = Word(value)
		}
		parts = append(parts, Word(a.Path)+"="+value)
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.Join(parts, " ")
}

// hostPattern returns the wider approval of a network read: anything at that host. Every other
// argument that could lead elsewhere must be the same. There is none with private data in context,
// because each request tells the host something.
func (s *Subject) hostPattern(at int) string {
	u, err := url.Parse(s.Leaves[at].Value)
	if err != nil || u.Hostname() == "" || u.User != nil || s.Action.Arguments[at].Shown == "" || s.Mark.Secrecy <= floodmark.Private {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if p := u.Port(); p != "" {
		host += ":" + p
	}
	if u.Scheme != "https" {
		host = strings.ToLower(u.Scheme) + "://" + host
	}
	name := "host"
	if p := s.Action.Arguments[at].Path; p != "url" {
		name = Word(p) + ".host"
	}
	except := []int{at}
	for i := range s.Action.Arguments { // what only says how to read it, such as a prompt
		if s.Basis.Kind(i) == floodmark.TextValue && !slices.Contains(s.Basis.Destinations, i) && !slices.Contains(s.Basis.Paths, i) {
			except = append(except, i)
		}
	}
	return s.spelled(name+"="+Word(host), except)
}
