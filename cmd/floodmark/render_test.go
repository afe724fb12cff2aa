package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/internal/cli/fleetcli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/cli/setup"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/protect"
	"github.com/floodmark/floodmark/wire"
)

// nasty is a name that attacks a terminal: it clears the screen, sets the title, writes from right
// to left and ends the line.
const nasty = "a\x1b[2J\x1b]0;x\x07\u202eb\u2066c\u009b31m\r\nd\x7f\x00"

func nastyTool() *wire.ToolRef { return &wire.ToolRef{Agent: nasty, Server: nasty, Name: nasty} }

func nastyAction() *wire.Action { return &wire.Action{Kind: "call-tool", Tool: nastyTool()} }

func nastyDecided() *wire.Decided {
	return &wire.Decided{Id: nasty + "#7", Action: nastyAction(), Decision: &wire.Decision{
		Verdict: nasty, Would: nasty, Reasons: []*wire.Reason{{Code: nasty, Text: nasty}},
	}}
}

func nastyQuestion() *wire.Question {
	return &wire.Question{Ticket: nasty, Session: nasty, Agent: nasty, Code: nasty, Calls: []*wire.AskedCall{{Action: nastyAction(), Line: nasty, Pattern: nasty}}}
}

func nastyShow() *wire.ShowResponse {
	label := &wire.Label{Trust: nasty, Secrecy: nasty}
	return &wire.ShowResponse{
		Session:   &wire.Session{Id: nasty, Agent: nasty, Project: nasty, Parent: nasty, Mark: label, Stopped: 1},
		Sources:   []*wire.Source{{Origin: &wire.Origin{Kind: nasty, Name: nasty, Place: nasty}, Label: label, Digest: nasty}, {Origin: &wire.Origin{Kind: "sender", Sender: nasty}}},
		Decisions: []*wire.Decided{nastyDecided()}, Pending: []*wire.Question{nastyQuestion()},
		Grants:       []*wire.Grant{{Ticket: nasty, Session: nasty, Scope: "pattern", Pattern: nasty, Tool: nastyTool(), ArgsDigest: nasty}},
		Endorsements: []*wire.Endorsement{{Digest: nasty, Trust: nasty, By: nasty}},
		Incidents:    []*wire.Incident{{Kind: nasty, Text: nasty}},
		Facts:        []*wire.Entry{{Kind: nasty, Body: nasty, Hash: nasty}},
		Tombstone:    &wire.Tombstone{Why: nasty},
	}
}

// pages returns all texts for people, each made with nasty names only.
func pages() map[string]string {
	st, now := cli.Style{}, time.Unix(0, 0)
	many := []string{nasty}
	problems := &wire.PolicyStatus{Profile: nasty, Files: many, Digest: nasty, Problems: []*wire.Problem{{File: nasty, Text: nasty, Hint: nasty, Severity: nasty}}}
	w := &asking.Watcher{Now: func() time.Time { return now }, Width: 80, Height: 24}
	w.Cards.Now = w.Now
	w.Take(&wire.WatchResponse{Session: nasty, What: &wire.WatchResponse_Asked{Asked: nastyQuestion()}})
	w.Take(&wire.WatchResponse{Session: nasty, What: &wire.WatchResponse_Decided{Decided: nastyDecided()}})
	status, agents := &cli.Sheet{}, &cli.Sheet{}
	setup.StatusText(status, &wire.StatusResponse{Version: nasty, Mode: nasty, Engine: nasty, Place: nasty, Warnings: many, Policy: problems}, now, nasty)
	setup.AgentsText(agents, []setup.AgentReport{{Title: nasty, Version: nasty, State: "changed", Why: nasty, Warnings: many}}, cli.Place{Dir: nasty})
	all := map[string]string{
		"status":   status.String(),
		"agents":   agents.String(),
		"protect":  setup.PlanText(st, &protect.Plan{Changes: []protect.Change{{Path: nasty, Note: nasty, Before: []byte(nasty), After: []byte("\t" + nasty)}}}, "/home", true),
		"sessions": records.SessionsText(st, &wire.SessionsResponse{Sessions: []*wire.Session{nastyShow().GetSession()}}),
		"show":     records.ShowText(st, nastyShow(), cli.Place{Dir: nasty}, now),
		"why": asking.WhyText(st, &wire.WhyResponse{Explanations: []*wire.Explanation{{
			Decision: nasty, Verdict: nasty, Sources: many, Arguments: many, Actions: many, Reasons: many, Remedies: many, Box: &wire.BoxRun{Command: nasty, Line: nasty},
		}}}, true),
		"verify": records.VerifyText(st, &wire.VerifyReport{Problems: many, Limits: many}),
		"doctor": setup.DoctorText(st, setup.Diagnosis{Checks: []cli.Finding{cli.Wrong(nasty, nasty, "%s", nasty)}}),
		"tokens": fleetcli.TokensText(st, []httpapi.Token{{ID: nasty, Name: nasty, Tenant: nasty, Certificate: nasty, Kind: nasty}}, now),
		"watch":  w.Text(),
	}
	for name, what := range map[string]*wire.WatchResponse{
		"decided":  {Session: nasty, What: &wire.WatchResponse_Decided{Decided: nastyDecided()}},
		"asked":    {Session: nasty, What: &wire.WatchResponse_Asked{Asked: nastyQuestion()}},
		"answered": {Session: nasty, What: &wire.WatchResponse_Answered{Answered: &wire.Answered{Ticket: nasty, By: nasty, Channel: nasty}}},
		"incident": {Session: nasty, What: &wire.WatchResponse_Incident{Incident: &wire.Incident{Kind: nasty, Text: nasty}}},
	} {
		all["event "+name] = asking.EventLine(st, what)
	}
	return all
}

func TestNamesCannotSteerATerminal(t *testing.T) {
	for name, text := range pages() {
		if !strings.Contains(text, "a[2J") {
			t.Errorf("%s does not show the names at all: %q", name, text)
		}
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
				t.Errorf("%s lets %U through: %q", name, r, text)
				break
			}
		}
		if strings.HasPrefix(name, "event ") && strings.Contains(text, "\n") {
			t.Errorf("%s has more than one line: %q", name, text)
		}
	}
}

func TestJSONCannotSteerATerminalAndKeepsItsMeaning(t *testing.T) {
	name := nasty + "\U000E0041"
	data, err := cli.MessageJSON(&wire.Session{Id: name})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range string(data) {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			t.Errorf("%U came through: %q", r, data)
		}
	}
	var back struct{ ID string }
	if err := json.Unmarshal(data, &back); err != nil || back.ID != name {
		t.Errorf("got %q (%v), want %q", back.ID, err, name)
	}
}

func TestTableStaysBelowEachOther(t *testing.T) {
	p := &cli.Sheet{St: cli.Style{On: true}}
	p.Table(2, [][]cli.Cell{{{Text: "日本"}, {Text: "b", Paint: p.St.Red}, {Text: "last"}}, {{Text: "long name"}, {Text: "bb"}, {Text: "last"}}})
	for line := range strings.Lines(p.String()) {
		before, _, _ := strings.Cut(line, "last")
		if got := lipgloss.Width(before); got != 2+len("long name")+2+len("bb")+2 {
			t.Errorf("the last column begins at %d: %q", got, line)
		}
	}
	p = &cli.Sheet{}
	p.Table(0, [][]cli.Cell{cli.Cells(strings.Repeat("n", cli.MaxCell), "x"), cli.Cells(strings.Repeat("n", cli.MaxCell+1), "x")})
	if lines := strings.Split(p.String(), "\n"); strings.Contains(lines[0], "…") || !strings.Contains(lines[1], "…") {
		t.Errorf("cut at the wrong place: %q", lines)
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"": "''", "codex:01#7": "codex:01#7", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "~": "'~'"} {
		if got := cli.ShellWord(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for in, want := range map[time.Duration]string{
		0: "less than a second", time.Second: "1 second", 119 * time.Second: "119 seconds", 2 * time.Minute: "2 minutes",
		2 * time.Hour: "2 hours", 48 * time.Hour: "2 days",
	} {
		if got := cli.Span(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := cli.Stamp(timestamppb.New(time.Time{})); got != "-" {
		t.Errorf("a time nobody knows is %s", got)
	}
}
