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
	// Allowed says that the call was allowed, Boxed that it was only in a box: then as the command
	// that takes the ticket.
	Allowed, Boxed bool
	// Asked says that a person was to be asked.
	Asked  bool
	Ticket string
}

// A Record is the journal's record of one session.
type Record struct {
	Opened    time.Time
	Decisions []Decision
	// Erased is the time up to which decisions were erased; zero if none were.
	Erased time.Time

	calls map[floodmark.NodeID]floodmark.CallID // by the announced results
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
	// Unseen: a session in which calls ran and none was judged. The hooks are not on its path.
	Unseen = "unseen-session"
	// Unmediated: a call ran that was not judged.
	Unmediated = "unmediated-call"
	// RefusedRan: a call ran although it was refused.
	RefusedRan = "refused-call-ran"
)

// A Finding is a call that should not have run.
type Finding struct {
	Kind string
	Call Call // the first one, if the finding is a whole session
	// Calls is the number of calls.
	Calls int
}

// A Report compares one session with the journal.
type Report struct {
	Session  Session
	Known    bool // it is in the journal
	Findings []Finding
	// Ran are the calls that ran, Judged those of them that were allowed.
	Ran, Judged int
	// Refused and Never did not run; of Unknown it is not known.
	Refused, Never, Unknown int
	// Boxed are calls that ran in a box, and Asked decisions that asked a person, both by the
	// journal.
	Boxed, Asked int
	// Before ran before the monitor watched; of Erased the decisions are gone.
	Before, Erased int
}

// Match compares a session with the journal's records under any of its names, its own first; nil
// for unknown ones. began is when the agent was first watched; zero means never.
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

// keep takes over the findings, and counts apart those that could not have been seen.
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
	// A session without any decision is one finding.
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

// settle finds for every call that ran a decision that allowed it. Refused calls with an unreadable
// result are not counted as run.
func settle(s Session, ran []Call, decisions []Decision) (judged, unread int, wrong []Finding) {
	byArgs := !tellsCalls(s.Agent)
	allowed, others := map[key]int{}, map[key]int{}
	seen, tickets := map[key]map[floodmark.Digest]bool{}, map[string]string{}
	for _, d := range decisions {
		if d.Ticket != "" {
			tickets[d.Ticket] = wrapping(string(d.Call))
		}
		for _, k := range d.keys(byArgs) {
			// A call may be judged again after a person has answered. Where calls have names that
			// is the same call.
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

// tellsCalls reports whether an agent's hooks name the call they ask about.
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

// wrapping is the call as a transcript records it. OpenClaw names an inner call by the outer one's
// name, its tool and a number, and records only the outer one.
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

// keys are the keys to find a call by. Without a call's name they are its tool and arguments, in
// each of the agent's forms.
func (d Decision) keys(byArgs bool) []key {
	if !byArgs {
		return []key{{call: wrapping(string(d.Call))}}
	}
	if d.Boxed { // run unboxed, or under an unknown ticket, it counts as unjudged
		return []key{{box: cmp.Or(d.Ticket, "none")}}
	}
	list := []key{{args: d.Args, tool: d.Tool.Name}}
	if d.Tool.Server != "" {
		list = []key{{args: d.Args, tool: "mcp_" + d.Tool.Server + "_" + d.Tool.Name}, {args: d.Args, tool: d.Tool.Server + "__" + d.Tool.Name}}
	}
	return list
}
