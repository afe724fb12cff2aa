package main

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/wire"
)

// The list says what matters of each laptop, and nothing in it steers a terminal.
func TestMachinesText(t *testing.T) {
	now := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	text := machinesText(style{}, []*wire.MachineStatus{
		{
			Id: "00112233aabbccdd", Name: "anna\x1b[31m", EnrolledBy: "setup", State: "joined", Seen: timestamppb.New(now.Add(-time.Minute)), Entries: 42, Forks: 1,
			Report: &wire.ReportMachineRequest{Version: "1.2.3", Rules: "bundle", Bundle: 7, Behind: 2, Agents: []*wire.MachineAgent{{Name: "codex", Version: "0.9", State: "open", Uncovered: []string{"x", "y"}}}},
		},
		{Id: "99", Name: "bob", EnrolledBy: "bea", State: "revoked", Report: &wire.ReportMachineRequest{Rules: "strict"}},
		{Id: "77", Name: "new", EnrolledBy: "bea", State: "joined"},
	}, now)
	for _, want := range []string{"00112233aabbccdd", "ago", "bundle 7", "42", "1.2.3", "codex 0.9 (open), 2 holes", "forked 1 time", "2 sessions are not uploaded", "revoked", "strict", "never", "by setup"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("an escape is in\n%q", text)
	}
}
