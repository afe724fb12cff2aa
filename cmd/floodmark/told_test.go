package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/setup"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// A toldMonitor gives prepared answers.
type toldMonitor struct {
	wire.UnimplementedOwnerServiceHandler
	pending *wire.PendingResponse
	grants  *wire.GrantsResponse
	status  *wire.StatusResponse
	why     *wire.WhyResponse
	show    *wire.ShowResponse
}

func (m toldMonitor) Why(context.Context, *wire.WhyRequest) (*wire.WhyResponse, error) {
	return m.why, nil
}

func (m toldMonitor) Show(context.Context, *wire.ShowRequest) (*wire.ShowResponse, error) {
	return m.show, nil
}

func (m toldMonitor) Status(context.Context, *wire.StatusRequest) (*wire.StatusResponse, error) {
	return m.status, nil
}

func (m toldMonitor) Pending(context.Context, *wire.PendingRequest) (*wire.PendingResponse, error) {
	return m.pending, nil
}

func (m toldMonitor) Grants(context.Context, *wire.GrantsRequest) (*wire.GrantsResponse, error) {
	return m.grants, nil
}

func (m toldMonitor) Watch(_ context.Context, _ *wire.WatchRequest, s *connect.ServerStream[wire.WatchResponse]) error {
	return s.Send(&wire.WatchResponse{Session: "s", What: &wire.WatchResponse_Decided{Decided: m.show.GetDecisions()[0]}})
}

// told runs a command against such a monitor.
func told(t *testing.T, m toldMonitor, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir, err := os.MkdirTemp("", "fm") //nolint:usetesting // the test's own folder is too deep for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var out, errs bytes.Buffer
	vars := map[string]string{"HOME": dir}
	c := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return vars[name] }, Dir: dir, Home: dir}
	at, err := c.Paths(cli.Place{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(at.OwnerSocket), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", at.OwnerSocket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(wire.NewOwnerServiceHandler(m))
	server := httpapi.NewServer(mux)
	go func() { _ = server.Serve(l) }() // until it is closed
	defer server.Close()
	code = run(t.Context(), c, append(args, "--dir", dir))
	return out.String(), errs.String(), code
}

// If sessions are missing from a list, people are told beside the list, and programs in it.
func TestWhatAListIsWithoutIsSaid(t *testing.T) {
	line := "session s9 is passed over: it is damaged\x1b[2J"
	m := toldMonitor{pending: &wire.PendingResponse{Unread: []string{line}}, grants: &wire.GrantsResponse{Unread: []string{line}}}
	for _, command := range []string{"approve", "policy grants"} {
		if _, talk, code := told(t, m, strings.Fields(command)...); code != 0 || !strings.Contains(talk, "session s9 is passed over: it is damaged") || strings.Contains(talk, "\x1b") {
			t.Errorf("%s: %q, %d", command, talk, code)
		}
		if data, _, code := told(t, m, append(strings.Fields(command), "--output", "json")...); code != 0 || !strings.Contains(data, `"unread"`) {
			t.Errorf("%s as JSON: %q, %d", command, data, code)
		}
	}
}

// People and programs are told what an auditor blocked, and why.
func TestABlockIsSeen(t *testing.T) {
	const reason = "the auditor says block: the user asked for a summary only"
	m := toldMonitor{
		why: &wire.WhyResponse{Explanations: []*wire.Explanation{{Decision: "s#8", Verdict: "confirm", Line: "write waits for your approval", Reasons: []string{reason}}}},
		show: &wire.ShowResponse{Session: &wire.Session{Id: "s"}, Decisions: []*wire.Decided{{
			Id: "s#8", Action: &wire.Action{Tool: &wire.ToolRef{Name: "write"}}, Decision: &wire.Decision{Verdict: "confirm", Reasons: []*wire.Reason{{Code: "audit", Text: reason}}},
		}}},
	}
	for command, want := range map[string]string{"why s#8": reason, "journal show s#8": "audit"} {
		if text, talk, code := told(t, m, strings.Fields(command)...); code != 0 || !strings.Contains(text, want) {
			t.Errorf("%s: %q, %q, %d", command, text, talk, code)
		}
		data, talk, code := told(t, m, append(strings.Fields(command), "--output", "json")...)
		if code != 0 || !json.Valid([]byte(data)) || !strings.Contains(data, reason) {
			t.Errorf("%s as JSON: %q, %q, %d", command, data, talk, code)
		}
	}
	for _, args := range [][]string{{"watch"}, {"watch", "--output", "json"}} {
		if text, _, _ := told(t, m, args...); !strings.Contains(text, reason) || json.Valid([]byte(text)) != (len(args) > 1) {
			t.Errorf("%v: %q", args, text) // the stream ends, which a monitor's does not
		}
	}
}

// What the nodes report about each other is printed on a line of its own, without characters that
// control a terminal, and in a field for programs. If they report nothing, there is no line and no
// field.
func TestStatusSaysWhatNodesAreUpTo(t *testing.T) {
	line := "an upgrade is under way: node b runs\x1b[2J version 2"
	for _, says := range []string{line, ""} {
		m := toldMonitor{status: &wire.StatusResponse{Version: "1", Nodes: says}}
		page, talk, code := told(t, m, "status")
		if has := strings.Contains(page, "\nan upgrade is under way: node b runs"); code != 0 || has != (says != "") || strings.Contains(page, "\x1b") || strings.Contains(page, "\n.\n") {
			t.Errorf("%d, %q:\n%s", code, talk, page)
		}
		data, talk, code := told(t, m, "status", "--output", "json")
		var got struct {
			Status struct{ Nodes string }
		}
		if err := json.Unmarshal([]byte(data), &got); err != nil || code != 0 || got.Status.Nodes != says {
			t.Errorf("%d, %v, %q: %s", code, err, talk, data)
		}
	}
}

// If all is well, the status is one line. Each fault adds a line. A permanent state and a change
// made by protect add none.
func TestStatusIsOneLine(t *testing.T) {
	held := []setup.AgentReport{{Name: "pi", Title: "pi", State: "protected", Warnings: []string{"it is newer than 0.73.1"}}}
	calm := []string{"user mode: code of your own user", "the signed heads lie where", "«floodmark protect» changed the rules; if"}
	for name, c := range map[string]struct {
		agents []setup.AgentReport
		status *wire.StatusResponse
		want   string
	}{
		"well":      {held, &wire.StatusResponse{Warnings: calm}, "Floodmark protects pi; no question waits.\n"},
		"asked":     {held, &wire.StatusResponse{Pending: 2}, "Floodmark protects pi; 2 questions wait for you: «floodmark watch».\n"},
		"nothing":   {nil, &wire.StatusResponse{}, "Floodmark runs, and no agent is protected; no question waits.\n"},
		"incident":  {held, &wire.StatusResponse{Incidents: 1, Warnings: []string{"policy-changed: x"}}, "Floodmark protects pi; no question waits.\npolicy-changed: x.\n"},
		"paused":    {held, &wire.StatusResponse{Warnings: []string{"the pause of all is over"}}, "Floodmark protects pi; no question waits.\nthe pause of all is over.\n"},
		"toothless": {held, &wire.StatusResponse{Policy: &wire.PolicyStatus{DryRun: true}}, "Floodmark protects pi; no question waits.\nthe policy decides and enforces nothing.\n"},
		"open": {
			append([]setup.AgentReport{{Name: "codex", Title: "Codex", State: "open"}}, held...), &wire.StatusResponse{},
			"Floodmark protects pi; no question waits.\nCodex: not protected; «floodmark protect codex» does it.\n",
		},
		"updated": {
			[]setup.AgentReport{{Name: "pi", Title: "pi", State: "protected", Warnings: []string{"it was updated; «floodmark prove pi» tries it"}}},
			&wire.StatusResponse{},
			"Floodmark protects pi; no question waits.\npi: it was updated; «floodmark prove pi» tries it.\n",
		},
	} {
		page := &cli.Sheet{}
		setup.StatusLines(page, c.status, setup.StatusReport{Agents: c.agents}, cli.Place{})
		if page.String() != c.want {
			t.Errorf("%s: %q, want %q", name, page.String(), c.want)
		}
	}
	page := &cli.Sheet{}
	setup.StatusLines(page, &wire.StatusResponse{}, setup.StatusReport{Agents: held, Box: setup.Untried}, cli.Place{})
	if !strings.Contains(page.String(), "\nno command runs in a box yet, ") {
		t.Errorf("a box that was not tried: %q", page.String())
	}
}
