package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
)

// A Decision is the journal's record of one call.
type Decision struct {
	Call floodmark.CallID
	Tool floodmark.ToolRef
	Args floodmark.Digest
	// Allowed is set if the call was allowed. Boxed is set if it was allowed only in a box; then
	// the agent runs another command, which takes the ticket.
	Allowed, Boxed bool
	// Asked is set if the decision was to ask a person.
	Asked  bool
	Ticket string
}

// A Record is the journal's record of one session.
type Record struct {
	Opened    time.Time
	Decisions []Decision
	// Erased is the time up to which decisions were erased; zero if none were.
	Erased time.Time

	calls map[floodmark.NodeID]floodmark.CallID // by the id of the call's result
}

// Take adds one fact of the session.
func (r *Record) Take(f floodmark.Fact) {
	switch f := f.(type) {
	case floodmark.ActionDecided:
		if f.Action.Kind != floodmark.CallTool {
			return
		}
		r.Decisions = append(r.Decisions, Decision{
			Call: f.Action.Call, Tool: f.Action.Tool, Args: f.Action.ArgsDigest,
			Asked:   f.Decision.Verdict == floodmark.Confirm,
			Allowed: f.Decision.Verdict == floodmark.Allow, Boxed: f.Decision.Contained(),
		})
	case floodmark.ContentSeen:
		if r.calls == nil {
			r.calls = map[floodmark.NodeID]floodmark.CallID{}
		}
		r.calls[f.Node] = f.Call
	case floodmark.ContentArrived:
		for i := len(r.Decisions) - 1; i >= 0 && f.BoxTicket != ""; i-- {
			if d := &r.Decisions[i]; d.Boxed && d.Call == r.calls[f.Node] {
				d.Ticket = f.BoxTicket
				return
			}
		}
	default:
	}
}

// The kinds of findings, named as incidents.
const (
	// Unseen is a session in which calls ran and none was judged. Its hooks are not in effect.
	Unseen = "unseen-session"
	// Unmediated is a call that ran without being judged.
	Unmediated = "unmediated-call"
	// RefusedRan is a call that ran although it was refused.
	RefusedRan = "refused-call-ran"
)

// A Finding is a call that should not have run.
type Finding struct {
	Kind string
	Call Call // the first call, if the finding is a whole session
	// Calls is the number of calls.
	Calls int
}

// A Report compares one session with the journal.
type Report struct {
	Session  Session
	Known    bool // it is in the journal
	Findings []Finding
	// Ran is the number of calls that ran. Judged is the number of those that the journal allowed.
	Ran, Judged int
	// Refused and Never are the numbers of calls that did not run. Unknown is the number of calls
	// of which that is not known.
	Refused, Never, Unknown int
	// Boxed is the number of calls that ran in a box. Asked is the number of decisions to ask a
	// person. Both are from the journal.
	Boxed, Asked int
	// Before is the number of calls that ran before the agent was watched. Erased is the number of
	// calls whose decisions may have been erased.
	Before, Erased int
}

// Match compares a session with the journal's records under each of its names, its own name first.
// A record is nil if the journal does not know the name. began is when the agent was first watched;
// zero means never.
func Match(s Session, known []*Record, began time.Time) Report {
	r := Report{Session: s}
	var all Record
	for _, k := range known {
		if k == nil {
			continue
		}
		if !r.Known || k.Opened.Before(all.Opened) && len(all.Decisions) == 0 {
			all.Opened = k.Opened
		}
		r.Known = true
		all.Decisions = append(all.Decisions, k.Decisions...)
		if k.Erased.After(all.Erased) {
			all.Erased = k.Erased
		}
	}
	from := began
	if r.Known {
		from = all.Opened
	}
	var ran []Call
	for _, c := range s.Calls {
		switch c.Outcome {
		case Never:
			r.Never++
		case Refused:
			r.Refused++
		case Unknown:
			r.Unknown++
		case Ran:
			r.Ran++
			ran = append(ran, c)
		}
	}
	for _, d := range all.Decisions {
		if d.Ticket != "" {
			r.Boxed++
		}
		if d.Asked {
			r.Asked++
		}
	}
	judged, unread, wrong := settle(s, ran, all.Decisions)
	r.Judged = judged
	r.Ran, r.Unknown = r.Ran-unread, r.Unknown+unread
	r.keep(wrong, from, all.Erased, len(all.Decisions) == 0)
	return r
}

// keep adds the findings to the report. Calls from before the watching, and calls whose decisions
// may be erased, are only counted.
func (r *Report) keep(wrong []Finding, from, erased time.Time, silent bool) {
	for _, f := range wrong {
		switch {
		case from.IsZero() || f.Call.At.Before(from) && f.Kind == Unmediated:
			r.Before++
		case !erased.IsZero() && !f.Call.At.After(erased):
			r.Erased++
		default:
			r.Findings = append(r.Findings, f)
		}
	}
	// A session without any decision is reported as one finding.
	own := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Call.Hosted })
	if silent && len(own) > 0 {
		r.Findings = []Finding{{Kind: Unseen, Call: own[0].Call, Calls: len(r.Findings)}}
	}
}

// key identifies both a call and its decision.
type key struct {
	call string
	args floodmark.Digest
	tool string
	box  string // the ticket of a command that ran in a box
}

// settle looks for a decision that allowed each call that ran, and uses each decision once. A
// refused call with an unreadable result is counted as unread and is no finding.
func settle(s Session, ran []Call, decisions []Decision) (judged, unread int, wrong []Finding) {
	byArgs := !tellsCalls(s.Agent)
	allowed, others := map[key]int{}, map[key]int{}
	seen, tickets := map[key]map[floodmark.Digest]bool{}, map[string]string{}
	for _, d := range decisions {
		if d.Ticket != "" {
			tickets[d.Ticket] = wrapping(string(d.Call))
		}
		for _, k := range d.keys(byArgs) {
			// A call may be judged again after a person has answered. If calls have names, the
			// second decision is about the same call.
			if !byArgs {
				if seen[k] == nil {
					seen[k] = map[floodmark.Digest]bool{}
				}
				if was, again := seen[k][d.Args]; again {
					if d.Allowed && !was {
						allowed[k]++
						others[k]--
					}
					seen[k][d.Args] = was || d.Allowed
					continue
				}
				seen[k][d.Args] = d.Allowed
			}
			if d.Allowed {
				allowed[k]++
			} else {
				others[k]++
			}
		}
	}
	for _, c := range ran {
		k := c.key(byArgs)
		switch {
		case c.Hosted, !byArgs && c.Box != "" && tickets[c.Box] != c.ID:
			wrong = append(wrong, Finding{Kind: Unmediated, Call: c, Calls: 1})
		case allowed[k] > 0:
			allowed[k]--
			judged++
		case others[k] > 0 && c.Unread:
			others[k]--
			unread++
		case others[k] > 0:
			others[k]--
			wrong = append(wrong, Finding{Kind: RefusedRan, Call: c, Calls: 1})
		default:
			wrong = append(wrong, Finding{Kind: Unmediated, Call: c, Calls: 1})
		}
	}
	return judged, unread, wrong
}

// tellsCalls reports whether an agent's hooks report the ID of the call.
func tellsCalls(agent string) bool { return agent != geminiName }

func (c Call) key(byArgs bool) key {
	switch {
	case byArgs && c.Box != "":
		return key{box: c.Box}
	case byArgs:
		return key{args: c.Args, tool: c.Tool}
	}
	return key{call: cmp.Or(c.ID, "args:"+c.Args.Short())}
}

// wrapping returns the ID under which a transcript records a call. For a call within another,
// OpenClaw's hooks report an ID made of the outer call's ID, the tool and a number, but its
// transcripts record only the outer call.
func wrapping(call string) string {
	rest, inner := strings.CutPrefix(call, "tool_search_code:")
	if !inner {
		return call
	}
	for range 2 {
		at := strings.LastIndexByte(rest, ':')
		if at <= 0 {
			return call
		}
		rest = rest[:at]
	}
	return rest
}

// keys returns the keys under which a transcript may record the decision's call. If byArgs is set,
// these are the tool and arguments, in each form of the tool's name.
func (d Decision) keys(byArgs bool) []key {
	if !byArgs {
		return []key{{call: wrapping(string(d.Call))}}
	}
	if d.Boxed { // if the call ran without a box, or with an unknown ticket, no key matches
		return []key{{box: cmp.Or(d.Ticket, "none")}}
	}
	list := []key{{args: d.Args, tool: d.Tool.Name}}
	if d.Tool.Server != "" {
		list = []key{{args: d.Args, tool: "mcp_" + d.Tool.Server + "_" + d.Tool.Name}, {args: d.Args, tool: d.Tool.Server + "__" + d.Tool.Name}}
	}
	return list
}
