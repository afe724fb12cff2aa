package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/floodmark/floodmark/internal/transcript"
)

// A coverageReport is the answer for programs: fields are only added.
type coverageReport struct {
	// Unseen is how many calls ran that should not have.
	Unseen int `json:"unseen"`
	// Written is how many incidents were not known before.
	Written int64          `json:"written"`
	Agents  []agentCovered `json:"agents"`
}

// An agentCovered is one agent in it.
type agentCovered struct {
	Agent    string     `json:"agent"`
	Watched  *time.Time `json:"watchedSince,omitempty"` // missing if it never was
	Sessions int        `json:"sessions"`
	Ran      int        `json:"ran"`
	Judged   int        `json:"judged"`
	Refused  int        `json:"refused"`
	// NotRun are calls the agent itself did not run, NoResult those of which
	// the transcript does not say.
	NotRun   int `json:"notRun"`
	NoResult int `json:"noResult"`
	// Before ran before the agent was watched, of Erased the decisions are gone.
	Before   int            `json:"before"`
	Erased   int            `json:"erased"`
	Unread   int            `json:"unread"`
	More     bool           `json:"more,omitempty"`
	Failed   []string       `json:"failed,omitempty"`
	Findings []findingFound `json:"findings"`
}

// A findingFound is one thing that ran and should not have.
type findingFound struct {
	Kind       string    `json:"kind"`
	Session    string    `json:"session"`
	Call       string    `json:"call,omitempty"`
	Tool       string    `json:"tool"`
	At         time.Time `json:"at"`
	Calls      int       `json:"calls"`
	Text       string    `json:"text"`
	Transcript string    `json:"transcript"`
}

// coverageOf sums up what was found.
func coverageOf(list []covered, written int64) coverageReport {
	out := coverageReport{Written: written, Agents: []agentCovered{}}
	for _, one := range list {
		a := agentCovered{Agent: one.Agent, Sessions: len(one.Reports), More: one.More, Failed: one.Failed, Findings: []findingFound{}}
		if !one.began.IsZero() {
			a.Watched = &one.began
		}
		for _, r := range one.Reports {
			a.add(r)
		}
		// A whole session that nobody saw is the worst there is.
		slices.SortStableFunc(a.Findings, func(x, y findingFound) int {
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
	return slices.Index([]string{transcript.Unseen, transcript.RefusedRan, transcript.Unmediated}, kind)
}

func (a *agentCovered) add(r transcript.Report) {
	a.Ran, a.Judged, a.Refused = a.Ran+r.Ran, a.Judged+r.Judged, a.Refused+r.Refused
	a.NotRun, a.NoResult = a.NotRun+r.Never, a.NoResult+r.Unknown
	a.Before, a.Erased, a.Unread = a.Before+r.Before, a.Erased+r.Erased, a.Unread+r.Session.Unread
	for _, f := range r.Findings {
		a.Findings = append(a.Findings, findingFound{
			Kind: f.Kind, Session: sessionName(a.Agent, r), Call: f.Call.ID, Tool: f.Call.Tool,
			At: f.Call.At, Calls: f.Calls, Text: findingText(f), Transcript: r.Session.Place,
		})
	}
}

// coverageText is the answer for people.
func coverageText(st style, r coverageReport) string {
	p := &sheet{st: st}
	switch {
	case len(r.Agents) == 0:
		p.title("No agent has written a transcript here.")
	case r.Unseen > 0:
		p.title(count(r.Unseen, "call", "calls") + " ran that nobody allowed.")
	default:
		p.title("All that ran since floodmark watches was judged.")
	}
	for _, a := range r.Agents {
		p.title(a.Agent)
		for _, f := range a.Findings {
			p.painted(2, findingLine(f), st.red)
			if f.Kind == transcript.Unseen {
				p.line(6, "hint: see that its hooks are installed and trusted, then start the agent anew («floodmark doctor»)")
			}
		}
		for _, line := range a.lines() {
			p.line(2, line)
		}
	}
	return p.String()
}

func findingLine(f findingFound) string {
	line := f.Session + ", " + f.At.Local().Format("2006-01-02 15:04:05") + ": " + f.Text
	if f.Kind == transcript.Unseen {
		return "NOT WATCHED " + line
	}
	return line
}

// lines say what else is known, in plain words.
func (a agentCovered) lines() []string {
	list := []string{fmt.Sprintf("%s, %s ran, %d judged and allowed, %d refused", count(a.Sessions, "session", "sessions"), count(a.Ran, "call", "calls"), a.Judged, a.Refused)}
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
		list = append(list, fmt.Sprintf("there are more than %d transcripts; look at fewer days with --since", transcript.MaxFiles))
	}
	return list
}
