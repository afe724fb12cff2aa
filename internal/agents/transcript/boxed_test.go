package transcript

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents"
)

// boxCommand is the command that a monitor gives in the place of another.
func boxCommand(name string) json.RawMessage {
	return json.RawMessage(`{"description":"x","command":"'/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' '/bin/bash' '-c' 'npm test'"}`)
}

// boxedRecord is a journal with one call that ran in a box by a ticket.
func boxedRecord(call floodmark.CallID, tool, ticket string) *Record {
	r := &Record{Opened: base().Add(-1)}
	for _, f := range []floodmark.Fact{
		floodmark.ActionDecided{
			Action:   floodmark.Action{Kind: floodmark.CallTool, Call: call, Tool: floodmark.ToolRef{Name: tool}, ArgsDigest: digest([]byte(`{"command":"npm test"}`))},
			Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Boxed},
		},
		floodmark.ContentSeen{Source: floodmark.Source{Node: 4, Call: call}},
		floodmark.ContentArrived{Node: 4, BoxTicket: ticket},
	} {
		r.Take(f)
	}
	return r
}

// A command with a ticket matches the call that the ticket was written for, once. With any other
// ticket, or without a box, the call ran unjudged.
func TestACommandInABoxIsTheCallOfItsTicket(t *testing.T) {
	const minted = "0123456789abcdef0123456789abcdef"
	other := strings.Repeat("f", ticketName)
	for name, c := range map[string]struct {
		args  []json.RawMessage
		known string // the ticket in the journal
		found int
	}{
		"the ticket":            {[]json.RawMessage{boxCommand(minted)}, minted, 0},
		"another":               {[]json.RawMessage{boxCommand(other)}, minted, 1},
		"one that nobody wrote": {[]json.RawMessage{boxCommand(minted)}, "", 1},
	} {
		for agent, call := range map[string]string{geminiName: "made-1", opencodeName: "c0"} {
			s := Session{Agent: agent, Names: []string{"s"}}
			for _, args := range c.args {
				s.Calls = append(s.Calls, Call{ID: "c0", Tool: "bash", Args: digest(args), Box: ticket(args), At: base(), Outcome: Ran})
			}
			if r := Match(s, []*Record{boxedRecord(floodmark.CallID(call), "bash", c.known)}, base().Add(-1)); len(r.Findings) != c.found || r.Judged != len(c.args)-c.found {
				t.Errorf("%s, %s: %d judged, %+v", agent, name, r.Judged, r.Findings)
			}
		}
	}
	ran := func(raw ...string) Session {
		s := Session{Agent: geminiName, Names: []string{"s"}}
		for i, r := range raw {
			s.Calls = append(s.Calls, Call{ID: string(rune('a' + i)), Tool: "bash", Args: digest([]byte(r)), Box: ticket([]byte(r)), At: base(), Outcome: Ran})
		}
		return s
	}
	for name, s := range map[string]Session{
		"the original": ran(`{"command":"npm test"}`),
		"twice":        ran(string(boxCommand(minted)), string(boxCommand(minted))),
	} {
		if r := Match(s, []*Record{boxedRecord("made-1", "bash", minted)}, base().Add(-1)); len(r.Findings) != 1 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

func TestTicketOfACommand(t *testing.T) {
	const name = "0123456789abcdef0123456789abcdef"
	if got := ticket(boxCommand(name)); got != name {
		t.Errorf("%q", got)
	}
	for _, line := range []string{"", "echo 'it'", `grep \d`, "a\nb; c", `'\''`} {
		command, err := agents.Quote([]string{"/opt/a b/floodmark-box", "--ticket", name, "--", "/bin/bash", "-c", line})
		if err != nil {
			t.Fatal(err)
		}
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if got := ticket(args); got != name {
			t.Errorf("%s takes %q", command, got)
		}
	}
	for _, command := range []string{
		"", "floodmark-box --ticket " + name + " -- ls", `'/tmp/x' '--ticket' '` + name + `' '--' 'ls'`, `'floodmark-box' '--ticket' '` + name + `' '--' 'ls'`,
		`ls; '/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' 'ls'`, `'/usr/bin/floodmark-box' '--ticket' '` + strings.ToUpper(name) + `' '--' 'ls'`,
		`'/usr/bin/floodmark-box' '--ticket' '` + name[1:] + `' '--' 'ls'`, `'/usr/bin/floodmark-box' '--ticket' '` + name + `'`, `'/x' ; '/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' 'ls'`,
		`'/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' 'ls'; evil`, `'/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' 'ls' evil 'x'`,
		`'/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' 'ls'$(evil)'x'`, `'/usr/bin/floodmark-box' '--ticket' '` + name + `' '--' '\'' evil 'x'`,
	} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if got := ticket(args); got != "" {
			t.Errorf("%s takes %q", command, got)
		}
	}
	if got := ticket([]byte(`[`)); got != "" {
		t.Errorf("%q", got)
	}
}

// The calls that ran in a box and the questions are counted from the journal.
func TestCountsOfBoxesAndQuestions(t *testing.T) {
	known := boxedRecord("a", "bash", "ticket")
	known.Take(floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.CallTool, Call: "b"}, Decision: floodmark.Decision{Verdict: floodmark.Confirm}})
	known.Take(floodmark.ActionDecided{Action: floodmark.Action{Kind: floodmark.CallTool, Call: "c"}, Decision: floodmark.Decision{Verdict: floodmark.Restrict}})
	r := Match(Session{Agent: geminiName, Names: []string{"s"}}, []*Record{known}, base())
	if r.Boxed != 1 || r.Asked != 1 {
		t.Errorf("%d in boxes, %d asked", r.Boxed, r.Asked)
	}
	sum := Summarise([]Coverage{{Agent: geminiName, Reports: []Report{r, r}}}, 0)
	if lines := sum.Agents[0].Lines(); lines[1] != "the journal says: 2 ran in a box, 2 asked about" {
		t.Errorf("%q", lines)
	}
	if lines := Summarise([]Coverage{{Agent: geminiName}}, 0).Agents[0].Lines(); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
}
