package floodmark_test

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A decision that allows a call only in a box has its own word. All others have that of their
// verdict.
func TestADecisionInOneWord(t *testing.T) {
	for want, d := range map[string]floodmark.Decision{
		"contain":  {Verdict: floodmark.Allow},
		"allow":    {Verdict: floodmark.Allow, Reach: floodmark.Free},
		"confirm":  {Verdict: floodmark.Confirm},
		"restrict": {Reach: floodmark.Free},
	} {
		if d.Word() != want || d.Contained() != (want == floodmark.Contain) {
			t.Errorf("%+v is %q, contained: %t; want %q", d, d.Word(), d.Contained(), want)
		}
	}
}

func TestProblems(t *testing.T) {
	ps := floodmark.Problems{
		{File: "a.yaml", Line: 3, Column: 7, Severity: floodmark.Warning, Text: "odd"},
		{File: "a.yaml", Line: 4, Column: 1, Severity: floodmark.Error, Text: "wrong", Hint: "write right"},
	}
	if want := "a.yaml:3:7: warning: odd\na.yaml:4:1: error: wrong\n    write right"; ps.Error() != want {
		t.Errorf("got %q, want %q", ps.Error(), want)
	}
	if !ps.Failed() || ps[:1].Failed() || (floodmark.Problems{{}}).Failed() == false {
		t.Error("only warnings may leave a file in use")
	}
}

func TestToolRef(t *testing.T) {
	for want, ref := range map[string]floodmark.ToolRef{"exec": {Agent: "a", Name: "exec"}, "github/get": {Agent: "a", Server: "github", Name: "get"}} {
		if ref.String() != want {
			t.Errorf("%+v is called %q, want %q", ref, ref.String(), want)
		}
	}
}
