package protection

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// someReport returns a report with every policy on every set, each with different figures.
func someReport() *Report {
	r := &Report{
		Result:  &Result{PolicyHash: "p0", CatalogHash: "c0", Seed: 1, Sample: 3},
		At:      time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Version: "1.2", Profile: "assistant",
	}
	for _, set := range AllSets() {
		for i, policy := range []string{"none", "A", "B", "floodmark"} {
			s := Score{Set: set, Policy: policy, SilentBefore: 9, Dropped: map[string]int{noCall: 4}}
			s.Add(Counts{Attacks: 200, Succeeded: 50, Passed: 40 - 13*i, Benign: 10, Silent: 10 - 2*i, AtMostOne: 10, Questions: 2 * i})
			if policy == "floodmark" {
				s.Answers, s.Footers, s.PassedTextOnly, s.TextOnlyMarked = 10, 3, 7, 6
			}
			r.Sets = append(r.Sets, s)
		}
	}
	strict := Score{Set: AgentDojoRecorded, Policy: "floodmark strict"}
	strict.Add(Counts{Attacks: 200, Benign: 10, Questions: 30})
	r.Profiles = []Score{strict}
	return r
}

func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := someReport().Write(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<code>p0</code>", "<code>c0</code>", "2 January 2026 03:04 UTC", "Floodmark 1.2", "one in 3 traces",
		"mutation-5", "agentdyn-recorded-test", "floodmark strict", "floodmark assistant", "6 (85.71 %)", "CaMeL, normal", "because " + noCall, "-50.0",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, outside := range []string{"<script", "src=", "<link", "@import", "url("} {
		if strings.Contains(page, outside) {
			t.Errorf("%q: the page must need nothing else", outside)
		}
	}
	if strings.Count(page, "<svg") != 2 || strings.Count(page, "<caption") < 3 || !strings.Contains(page, `lang="en"`) {
		t.Error("two pictures, and tables with captions")
	}
	if file := os.Getenv("REPORT_FILE"); file != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// The chart is well-formed, has a description, and shows every sign within its bounds.
func TestChart(t *testing.T) {
	var b bytes.Buffer
	if err := someReport().WriteChart(&b); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(&b)
	signs := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if el, ok := tok.(xml.StartElement); ok && el.Name.Local == "g" {
			signs++
		}
	}
	rivals := 0
	for _, v := range Rivals() {
		if v.On == "agentdojo" {
			rivals++
		}
	}
	if signs != 5+rivals {
		t.Errorf("%d signs, want %d", signs, 5+rivals)
	}
	c := &drawing{right: 1}
	if c.x(0) != plotLeft || c.x(1) != plotRight || c.y(0) != plotBottom || c.y(maxPassed) != plotTop || c.y(99) != plotTop {
		t.Error("the edges of the plot are not where the axes are")
	}
}

func TestNamesInAChartDoNotMeet(t *testing.T) {
	c := &drawing{right: 1}
	var taken []box
	for range 6 {
		at := c.place(point{name: "floodmark assistant", x: 0.2, y: 1}, taken)
		for _, o := range taken {
			if at.meets(o) {
				t.Fatalf("%v lies on %v", at, o)
			}
		}
		taken = append(taken, at)
	}
	if at := c.place(point{name: "a rather long name of something", x: 1, y: 1}, nil); at.right > chartWidth {
		t.Errorf("%v is outside", at)
	}
}
