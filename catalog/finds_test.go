package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

// findsFile finds in commands, in a tool and in a case of it.
const findsFile = `
agent: pi
commands:
  - {command: drop, effect: change, returns: {trust: local, secrecy: internal}, operands: [text], flags: f, finds: deletes-folder}
tools:
  - {tool: sh, about: a shell, effect: run, returns: {trust: local, secrecy: internal}, args: {command: {role: critical, is: command}}}
  - tool: hand
    about: does something
    effect: change
    returns: {trust: local, secrecy: internal}
    finds: takes-commands
    args:
      action: {role: critical, is: flag}
      whom: {role: critical, is: name}
      note: {role: content, is: text}
    when:
      - {arg: action, in: [drop], finds: deletes-folder}
`

// A finding of the data is about every operand of a command, and every critical value of a tool.
func TestFinds(t *testing.T) {
	c := New([]*File{parse(t, findsFile)}, shipped(t))
	classify := func(tool string, leaves []hook.Leaf) finding.List {
		return c.Classify(builtin("pi", tool), leaves, nil, here()).Found
	}
	hand := func(action, whom string) []hook.Leaf {
		return slices.Concat(args("action", action), args("whom", whom), args("note", "x"))
	}
	shell, folder := floodmark.TakesCommands, floodmark.DeletesFolder
	for _, x := range []struct {
		name string
		got  finding.List
		want finding.List
	}{
		{"an operand", classify("sh", args("command", "drop -f a")), finding.List{{Finding: folder, Thing: "a"}}},
		{"two", classify("sh", args("command", "drop a b")), finding.List{{Finding: folder, Thing: "a"}, {Finding: folder, Thing: "b"}}},
		{"none", classify("sh", args("command", "drop -f")), finding.List{{Finding: folder}}},
		{"another line", classify("sh", args("command", "dropped a")), nil},
		{"a tool", classify("hand", hand("keep", "x")), finding.List{{Finding: shell, Thing: "x"}}},
		{"a tool alone", classify("hand", args("action", "keep")), finding.List{{Finding: shell}}},
		{"a case", classify("hand", hand("drop", "x")), finding.List{{Finding: shell, Thing: "x"}, {Finding: folder, Thing: "x"}}},
		{"perhaps a case", classify("hand", slices.Concat(hand("keep", "x"), args("action", "drop"))), finding.List{{Finding: shell, Thing: "x"}, {Finding: folder, Thing: "x"}}},
	} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, x.got, x.want)
		}
	}
}

// What a catalog finds has a line that says what is asked about it.
func TestFindsHaveALine(t *testing.T) {
	if _, err := Parse("f", []byte("agent: pi\ntools:\n  - {tool: a, about: b, effect: write, returns: {trust: local, secrecy: public}, finds: nothing-known}\n")); err == nil {
		t.Error("a finding without a line is read")
	}
	p := parse(t, findsFile).Profiles()
	if got := p[1].Cases()[0].String(); got != "action is drop: finds deletes-folder" {
		t.Error(got)
	}
}
