package main

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/asking"
	"github.com/floodmark/floodmark/wire"
)

// Text is fitted to the width of the terminal, within bounds. Without a valid width, the default is
// used.
func TestTextFitsTheTerminal(t *testing.T) {
	for columns, want := range map[string]int{
		"": cli.HelpWidth, "x": cli.HelpWidth, "0": cli.HelpWidth, "-5": cli.HelpWidth, "60": 60, "120": 120,
		"40": cli.MinWidth, "39": cli.MinWidth, "160": cli.MaxWidth, "161": cli.MaxWidth,
	} {
		c := &cli.Console{Getenv: func(name string) string { return map[string]string{"COLUMNS": columns}[name] }}
		p := &cli.Sheet{St: c.OutStyle()}
		p.Line(4, strings.Repeat("word ", 100))
		widest := 0
		for line := range strings.Lines(p.String()) {
			widest = max(widest, lipgloss.Width(strings.TrimRight(line, "\n")))
		}
		if widest > want || widest < want-6 {
			t.Errorf("COLUMNS=%q: %d columns, want at most %d and nearly that", columns, widest, want)
		}
	}
}

// After an approval the person is told that the agent has to try again, or where the approval is
// listed. After a no, or an answer in vain, there is nothing to say.
func TestAYesSaysWhatFollows(t *testing.T) {
	for name, c := range map[string]struct {
		q        *wire.AnswerRequest
		answered bool
		want     string
	}{
		"for the turn": {&wire.AnswerRequest{Verb: "approve"}, true, "tries the call again"},
		"for a time":   {&wire.AnswerRequest{Verb: "approve", Minutes: 30}, true, "floodmark policy grants"},
		"in vain":      {&wire.AnswerRequest{Verb: "approve"}, false, ""},
		"a no":         {&wire.AnswerRequest{Verb: "deny"}, true, ""},
	} {
		if got := asking.WhatFollows(c.q, c.answered); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
