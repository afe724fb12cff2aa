package finding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

const tomorrow = floodmark.Finding("of-tomorrow")

func table(t *testing.T) *finding.Table {
	t.Helper()
	shipped, _, err := finding.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return shipped
}

// A finding without a line is refused in every conversation, by every table, and nothing settles it.
func TestUnknownFindingsAreRefused(t *testing.T) {
	for name, known := range map[string]*finding.Table{"none": nil, "shipped": table(t), "without": table(t).Without([]floodmark.Code{floodmark.Unjudged, "findings"})} {
		for trust := range floodmark.System + 1 {
			got := known.Reasons([]floodmark.Finding{tomorrow}, finding.Flow, trust)
			if len(got) != 1 || got[0].Verdict != floodmark.Restrict || got[0].Code != floodmark.Unjudged || got[0].Text == "" {
				t.Errorf("%s, %s: %+v", name, trust, got)
			}
		}
		found := finding.List{}.With(tomorrow, "thing")
		if got := known.Unsettled(found, "/p", func(_, _ string) bool { return true }); !slices.Equal(got, []floodmark.Finding{tomorrow}) {
			t.Errorf("%s settles it: %v", name, got)
		}
		if got := known.Still(nil, []floodmark.Finding{tomorrow, tomorrow}); !slices.Equal(got, []floodmark.Finding{tomorrow}) {
			t.Errorf("%s forgets it: %v", name, got)
		}
		if l := known.Line(tomorrow); !l.Runs || l.Does == "" || l.Ends == "" || l.Place != finding.Flow || l.Settled != "" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// Every line asks for something, says what, and its reason is one of the codes of decisions.
func TestShippedLines(t *testing.T) {
	known := table(t)
	for _, f := range []floodmark.Finding{floodmark.TakesCommands, floodmark.FetchesPackage, floodmark.DeletesFolder} {
		l := known.Line(f)
		if l.Rule == "findings" || l.Asks >= floodmark.Allow || strings.HasSuffix(l.Says, ".") {
			t.Errorf("%s: %+v", f, l)
		}
		asked := 0
		for _, at := range []finding.Place{finding.Flow, finding.First, finding.Last} {
			asked += len(known.Reasons([]floodmark.Finding{f}, at, floodmark.Untrusted))
		}
		if asked != 1 {
			t.Errorf("%s is asked about at %d places", f, asked)
		}
	}
	if got := known.Reasons([]floodmark.Finding{floodmark.DeletesFolder}, finding.Last, floodmark.Owner); got != nil {
		t.Errorf("asked of the owner alone: %v", got)
	}
}

// First returns the line of an unknown finding, or else the first line in the order of the table.
func TestFirst(t *testing.T) {
	known, shell, pkg, folder := table(t), floodmark.TakesCommands, floodmark.FetchesPackage, floodmark.DeletesFolder
	for _, c := range []struct {
		found []floodmark.Finding
		want  floodmark.Finding
		runs  bool
	}{
		{[]floodmark.Finding{folder}, folder, false},
		{[]floodmark.Finding{folder, pkg}, pkg, true},
		{[]floodmark.Finding{pkg, shell}, shell, true},
		{[]floodmark.Finding{folder, pkg, tomorrow}, tomorrow, true},
		{nil, "", false},
	} {
		if got := known.First(c.found); got.Finding != c.want || known.Runs(c.found) != c.runs {
			t.Errorf("%v: %+v", c.found, got)
		}
	}
	if (*finding.Table)(nil).First([]floodmark.Finding{pkg}).Asks != floodmark.Restrict {
		t.Error("without a table nothing is known")
	}
}

// A word that is missing or not known refuses the table.
func TestParse(t *testing.T) {
	const rest = "reason: rule, rule: r, says: s, does: d, ends: e"
	for text, want := range map[string]string{
		"": "EOF",
		"- {finding: a, " + rest + ", asks: perhaps}":                "perhaps",
		"- {finding: a, " + rest + ", place: middle}":                "middle",
		"- {finding: a, " + rest + ", below: nobody}":                "nobody",
		"- {finding: a, " + rest + ", settled: prayer}":              "prayer",
		"- {finding: a, " + rest + ", unless: x}":                    "unless",
		"- {finding: a, reason: rule, rule: r, says: s, does: d}":    "leaves out",
		"- {finding: a, " + rest + "}\n- {finding: a, " + rest + "}": "two lines",
	} {
		if _, err := finding.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	strict, err := finding.Parse([]byte("- {finding: a, " + rest + "}"))
	if err != nil {
		t.Fatal(err)
	}
	got := strict.Reasons([]floodmark.Finding{"a"}, finding.Flow, floodmark.System)
	if len(got) != 1 || got[0].Verdict != floodmark.Restrict || strict.Line("a").Settled != "" {
		t.Errorf("a line that says no more: %+v", got)
	}
}

// What the owner named by a path, its rest or its last name is settled.
func TestSettled(t *testing.T) {
	known := table(t)
	for name, c := range map[string]struct {
		things []string
		said   string
		want   bool
	}{
		"nothing":          {want: false},
		"nobody named it":  {things: []string{"/p/src"}, want: true},
		"in full":          {things: []string{"/p/src"}, said: "/p/src"},
		"from the project": {things: []string{"/p/a/src"}, said: "a/src"},
		"by its name":      {things: []string{"/q/src"}, said: "src"},
		"one of two":       {things: []string{"/p/a", "/p/b"}, said: "a", want: true},
		"an unknown one":   {things: []string{""}, said: "", want: true},
	} {
		got := known.Unsettled(finding.List{}.With(floodmark.DeletesFolder, c.things...), "/p",
			func(name, role string) bool { return name == c.said && role == "path" })
		if (len(got) == 1) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A package and a name are settled only if the owner says them in full.
func TestSettledByName(t *testing.T) {
	for _, by := range []string{"package", "name"} {
		known, err := finding.Parse([]byte("- {finding: a, settled: " + by + ", reason: rule, rule: r, says: s, does: d, ends: e}"))
		if err != nil {
			t.Fatal(err)
		}
		for thing, want := range map[string]bool{"x": false, "/p/x": true, "": true} {
			got := known.Unsettled(finding.List{}.With("a", thing), "/p",
				func(name, role string) bool { return (name == "x" || name == "") && role == by })
			if (len(got) == 1) != want {
				t.Errorf("%q by %s: %v", thing, by, got)
			}
		}
	}
}

// A call that is judged again has the findings that were not settled when it was recorded.
func TestStill(t *testing.T) {
	known, f := table(t), floodmark.DeletesFolder
	now := finding.List{}.With(f, "/a", "/b")
	for name, c := range map[string]struct {
		now        finding.List
		then, want []floodmark.Finding
	}{
		"still":   {now, []floodmark.Finding{f}, []floodmark.Finding{f}},
		"settled": {now, nil, nil},
		"no more": {nil, []floodmark.Finding{f}, nil},
	} {
		if got := known.Still(c.now, c.then); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
