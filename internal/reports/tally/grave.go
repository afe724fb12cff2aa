package tally

import (
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// What would have been lasting harm, in words for people.
const (
	FetchedCode = "code from a place that you did not name would have run"
	LogsIn      = "who can log in to this machine would have changed"
)

const (
	brings = `\b(?:curl|wget|aria2c)\b`
	runs   = `(?:\S*/)?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|node|perl|ruby|php)\b`
)

// fetched matches a command line that runs what it fetches. It is only for what people are told: what
// a line does is decided elsewhere.
var fetched = regexp.MustCompile(brings + `[^\n;&]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?` + runs +
	`|(?:` + runs + `|\beval|\bsource|(?:^|\s)\.)\s+(?:-c\s+)?["']?(?:<\(|\$\(|` + "`" + `)\s*` + brings)

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
		case fetched.MatchString(a.Shown) && !stated:
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
