package transcript

import (
	"fmt"
	"slices"
	"time"
)

// A Summary is the result in JSON, for programs. Its fields are never removed or renamed.
type Summary struct {
	// Unseen is the number of calls that should not have run.
	Unseen int `json:"unseen"`
	// Written is the number of new incidents.
	Written int64          `json:"written"`
	Agents  []AgentSummary `json:"agents"`
}

// An AgentSummary is one agent in a [Summary].
type AgentSummary struct {
	Agent    string     `json:"agent"`
	Watched  *time.Time `json:"watchedSince,omitempty"` // missing if the agent was never watched
	Sessions int        `json:"sessions"`
	Ran      int        `json:"ran"`
	Judged   int        `json:"judged"`
	Refused  int        `json:"refused"`
	// Boxed is the number of calls that ran in a box. Asked is the number of decisions to ask a
	// person. Both are from the journal.
	Boxed int `json:"boxed"`
	Asked int `json:"asked"`
	// NotRun is the number of calls that the agent itself did not run. NoResult is the number of
	// calls without a recorded result.
	NotRun   int `json:"notRun"`
	NoResult int `json:"noResult"`
	// Before is the number of calls that ran before the agent was watched. Erased is the number of
	// calls whose decisions may have been erased.
	Before   int      `json:"before"`
	Erased   int      `json:"erased"`
	Unread   int      `json:"unread"`
	More     bool     `json:"more,omitempty"`
	Failed   []string `json:"failed,omitempty"`
	Findings []Found  `json:"findings"`
}

// A Found is a [Finding] in a Summary.
type Found struct {
	Kind       string    `json:"kind"`
	Session    string    `json:"session"`
	Call       string    `json:"call,omitempty"`
	Tool       string    `json:"tool"`
	At         time.Time `json:"at"`
	Calls      int       `json:"calls"`
	Text       string    `json:"text"`
	Transcript string    `json:"transcript"`
}

// Summarise sums up the coverages.
func Summarise(list []Coverage, written int64) Summary {
	out := Summary{Written: written, Agents: []AgentSummary{}}
	for _, one := range list {
		a := AgentSummary{Agent: one.Agent, Sessions: len(one.Reports), More: one.More, Failed: one.Failed, Findings: []Found{}}
		if !one.Began.IsZero() {
			a.Watched = &one.Began
		}
		for _, r := range one.Reports {
			a.add(r)
		}
		// The worst findings come first.
		slices.SortStableFunc(a.Findings, func(x, y Found) int {
			return order(x.Kind) - order(y.Kind)
		})
		for _, f := range a.Findings {
			out.Unseen += f.Calls
		}
		out.Agents = append(out.Agents, a)
	}
	return out
}

func order(kind string) int {
	return slices.Index([]string{Unseen, RefusedRan, Unmediated}, kind)
}

func (a *AgentSummary) add(r Report) {
	a.Ran, a.Judged, a.Refused = a.Ran+r.Ran, a.Judged+r.Judged, a.Refused+r.Refused
	a.Boxed, a.Asked = a.Boxed+r.Boxed, a.Asked+r.Asked
	a.NotRun, a.NoResult = a.NotRun+r.Never, a.NoResult+r.Unknown
	a.Before, a.Erased, a.Unread = a.Before+r.Before, a.Erased+r.Erased, a.Unread+r.Session.Unread
	for _, f := range r.Findings {
		a.Findings = append(a.Findings, Found{
			Kind: f.Kind, Session: SessionName(a.Agent, r), Call: f.Call.ID, Tool: f.Call.Tool,
			At: f.Call.At, Calls: f.Calls, Text: f.Text(), Transcript: r.Session.Place,
		})
	}
}

// Lines returns everything but the findings, in plain sentences.
func (a AgentSummary) Lines() []string {
	list := []string{fmt.Sprintf("%s, %s ran, %d judged and allowed, %d refused", count(a.Sessions, "session", "sessions"), count(a.Ran, "call", "calls"), a.Judged, a.Refused)}
	if a.Boxed+a.Asked > 0 {
		list = append(list, fmt.Sprintf("the journal says: %d ran in a box, %d asked about", a.Boxed, a.Asked))
	}
	add := func(n int, one, many string) {
		if n > 0 {
			list = append(list, count(n, one, many))
		}
	}
	if a.Watched == nil && a.Before > 0 {
		list = append(list, fmt.Sprintf("floodmark was never on the path of this agent: nothing is known of its %s", count(a.Before, "call", "calls")))
	} else {
		add(a.Before, "call is from before it was watched", "calls are from before it was watched")
	}
	add(a.Erased, "call is older than what the journal still keeps", "calls are older than what the journal still keeps")
	add(a.NoResult, "call has no result, so whether it ran is not known", "calls have no result, so whether they ran is not known")
	add(a.Unread, "piece could not be read; calls in it are not known", "pieces could not be read; calls in them are not known")
	for _, f := range a.Failed {
		list = append(list, "not read: "+f)
	}
	if a.More {
		list = append(list, fmt.Sprintf("there are more than %d transcripts; look at fewer days with --since", MaxFiles))
	}
	return list
}

// SessionName returns the journal's name for a session.
func SessionName(agent string, r Report) string {
	if r.Session.Names[0] == "" {
		return agent + ":unknown"
	}
	return agent + ":" + r.Session.Names[0]
}

// Text returns a sentence about the finding.
func (f Finding) Text() string {
	switch {
	case f.Kind == Unseen:
		return count(f.Calls, "call", "calls") + " ran, and nothing was judged in this session: the hooks are not on its path"
	case f.Kind == RefusedRan:
		return "the transcript shows that " + f.Call.Tool + " ran although it was refused"
	case f.Call.Hosted:
		return "the model's own service ran " + f.Call.Tool + ", which no hook is told of"
	}
	return "the transcript shows that " + f.Call.Tool + " ran, and nothing was decided about it"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
