package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/internal/mcp/mcppins"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/text/linetext"
)

// pins adds the tools of a server to the pins below DIR. Each line of a file is one tool.
func (s *scripts) pins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: pins DIR SERVER COMMAND FILE")
	}
	b, err := mcppins.Open(config.DirPaths(ts.MkAbs(args[0])).Pins)
	ts.Check(err)
	var defs []mcppins.Definition
	for line := range strings.Lines(ts.ReadFile(args[3])) {
		d := mcppins.Definition{Server: args[1], Kind: mcppins.Tool, Body: json.RawMessage(line)}
		var named struct{ Name string }
		ts.Check(json.Unmarshal(d.Body, &named))
		d.Name = named.Name
		defs = append(defs, d)
	}
	_, err = b.See(s.ctx, args[1], args[2], defs)
	ts.Check(err)
}

// The reader of a review sees all characters and all text that a server wrote.
func TestBodyLines(t *testing.T) {
	body := `{"description":"Adds. Then\u200bmore; end\nnew line","inputSchema":{"properties":{"a\u202e":{"enum":["\u001b[8m"]}}},"name":"sum","x y":1}`
	want := `name: sum
description:
  Adds.
  Then\u{200b}more;
  end
  new line
inputSchema:
  {
    "properties": {
      "a\u{202e}": {
        "enum": [
          "\u001b[8m"
        ]
      }
    }
  }
x y: 1`
	canonical := strings.NewReplacer(`\u200b`, "\u200b", `\u202e`, "\u202e").Replace(body)
	if got := strings.Join(mcppins.Lines(json.RawMessage(canonical)), "\n"); got != want {
		t.Errorf("%s", strings.Join(linetext.Diff(want, got), "\n"))
	}
	if got := mcppins.Lines(json.RawMessage(`"Be good. Be kind."`)); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := mcppins.Lines(json.RawMessage(`[1]`)); len(got) != 1 || got[0] != "[1]" {
		t.Errorf("%q", got)
	}
}
