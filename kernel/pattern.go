package kernel

import (
	"net/url"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// pattern returns the wider approval a question may offer: the same tool with the same values in
// every argument that matters, and any content. There is none for a call that changes the agent,
// runs code, puts code into a repository, or names many things at once. Two calls have the same
// pattern only if every byte of it is the same.
func pattern(j *judged) string {
	effects := j.action.Effects
	if j.basis.Undescribed || j.use.Profile.Commits() || slices.Contains(effects, floodmark.Run) || slices.Contains(effects, floodmark.Admin) {
		return ""
	}
	if n := len(j.action.Arguments); n > 0 && j.action.Arguments[n-1].Path == floodmark.CommandAddress {
		return "" // a command line has more to say than its addresses
	}
	if len(effects) == 1 && effects[0] == floodmark.Fetch && j.question.Reach.URLArg >= 0 {
		return hostPattern(j)
	}
	return spelled(j, "", nil)
}

// spelled returns a pattern with every argument that matters, except those in but. It is empty if
// an argument cannot be written in full, because a person approves in general only what was shown
// in full.
func spelled(j *judged, first string, but []int) string {
	parts := []string{j.action.Tool.String()}
	if first != "" {
		parts = append(parts, first)
	}
	for i, a := range j.action.Arguments {
		if a.Role == floodmark.Content || slices.Contains(but, i) {
			continue
		}
		if slices.Contains(j.basis.Cut, i) || approval.Wild(a.Shown) {
			return ""
		}
		value := a.Shown
		if kind := j.basis.Kind(i); kind == floodmark.TextValue || kind == floodmark.NoText {
			value = approval.Word(value)
		}
		parts = append(parts, approval.Word(a.Path)+"="+value)
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.Join(parts, " ")
}

// hostPattern returns the wider approval of a network read: anything at that host. Every other
// argument that could lead elsewhere must be the same. There is none with private data in context,
// because a host is told what is asked of it.
func hostPattern(j *judged) string {
	at := j.question.Reach.URLArg
	u, err := url.Parse(j.leaves[at].Value)
	if err != nil || u.Hostname() == "" || u.User != nil || j.action.Arguments[at].Shown == "" || j.mark.Secrecy <= floodmark.Private {
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
	if p := j.action.Arguments[at].Path; p != "url" {
		name = approval.Word(p) + ".host"
	}
	but := []int{at}
	for i := range j.action.Arguments { // what only says how to read it, such as a prompt
		if j.basis.Kind(i) == floodmark.TextValue && !slices.Contains(j.basis.Destinations, i) && !slices.Contains(j.basis.Paths, i) {
			but = append(but, i)
		}
	}
	return spelled(j, name+"="+approval.Word(host), but)
}
