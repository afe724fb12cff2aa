package tally

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// What would have been lasting harm, in words for people.
const (
	FetchedCode = "code from a place that you did not name would have run"
	LogsIn      = "who can log in to this machine would have changed"
)

// runsFetched reports whether a command line runs what it fetches. It is only for what people are told:
// what a line does is decided elsewhere.
func runsFetched(line string) bool {
	for _, command := range strings.FieldsFunc(line, func(r rune) bool { return r == '\n' || r == ';' || r == '&' }) {
		fetched := false
		for part := range strings.SplitSeq(command, "|") {
			name := program(part)
			runs := name == "eval" || name == "source" || name == "." || interprets(name)
			if fetched && interprets(name) || runs && opensFetch(part) {
				return true
			}
			fetched = fetched || fetches(name)
		}
	}
	return false
}

// program returns the name of the program that a simple command starts.
func program(command string) string {
	words := strings.Fields(command)
	for len(words) > 0 && (words[0] == "sudo" || words[0] == "env" || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return path.Base(words[0])
}

func fetches(name string) bool { return name == "curl" || name == "wget" || name == "aria2c" }

func interprets(name string) bool {
	switch strings.TrimRight(name, digits+".") {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "node", "perl", "ruby", "php":
		return true
	}
	return false
}

// opensFetch reports whether a command takes what another one fetches as its text or its file.
func opensFetch(command string) bool {
	for _, begin := range []string{"$(", "<(", "`"} {
		if _, inner, ok := strings.Cut(command, begin); ok && fetches(program(inner)) {
			return true
		}
	}
	return false
}

// grave says in words what lasting harm a call would have done, or "" if that is not known.
func grave(f floodmark.ActionDecided) string {
	looks := !slices.ContainsFunc(f.Action.Effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
	if looks && len(f.Action.Effects) > 0 {
		return ""
	}
	stated := slices.ContainsFunc(f.Action.Arguments, func(a floodmark.Argument) bool {
		return a.Path == floodmark.CommandAddress && a.Whence == floodmark.Stated
	})
	for _, a := range f.Action.Arguments {
		switch {
		case a.Role == floodmark.Content || a.Path == floodmark.CommandAddress:
		case strings.Contains(a.Shown, "authorized_keys"):
			return LogsIn
		case runsFetched(a.Shown) && !stated:
			return FetchedCode
		}
	}
	return ""
}

// refusals remembers who refused which call of a session.
type refusals struct {
	asked map[floodmark.TicketID][]callKey
	by    map[callKey]string
}

func newRefusals() refusals {
	return refusals{map[floodmark.TicketID][]callKey{}, map[callKey]string{}}
}

func (r refusals) take(f floodmark.Fact) {
	switch f := f.(type) {
	case floodmark.TicketOpened:
		for _, s := range f.Shown {
			r.asked[f.Ticket] = append(r.asked[f.Ticket], callKey{s.Tool, s.ArgsDigest})
		}
	case floodmark.TicketExtended:
		r.asked[f.Ticket] = append(r.asked[f.Ticket], callKey{f.Shown.Tool, f.Shown.ArgsDigest})
	case floodmark.TicketAnswered:
		if f.Verdict == floodmark.Restrict {
			for _, key := range r.asked[f.Ticket] {
				r.by[key] = f.By
			}
		}
	default:
	}
}

// of returns who refused a call before, if that is why it is refused.
func (r refusals) of(f floodmark.ActionDecided) string {
	if len(f.Decision.Reasons) == 0 || f.Decision.Reasons[0].Code != floodmark.Denied {
		return ""
	}
	return r.by[callKey{f.Action.Tool, f.Action.ArgsDigest}]
}
