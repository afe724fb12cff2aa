package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const docs = "../../../docs"

// evidence returns the published measurement and the published simulation.
func evidence(t *testing.T) (*measured, *scaled) {
	t.Helper()
	m, err := readMeasured(filepath.Join(docs, "evidence", "fleet-bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(docs, "evidence", "scale.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &scaled{}
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return m, s
}

const again = "run «make scale»"

// The pages and the picture must show the figures of the evidence, and the simulation must be made
// from the measurement beside it.
func TestPagesShowTheEvidence(t *testing.T) {
	m, s := evidence(t)
	if s.Commit != m.Commit || !s.Measured.Equal(m.Began) || s.Constants != constantsOf(m) || !s.Simulated {
		t.Errorf("scale.json is not of this fleet-bench.json: %s", again)
	}
	for _, p := range m.Figures.Shards {
		if p.Conns > connections {
			t.Errorf("a node had %d connections to one of %d databases, and is planned with %d", p.Conns, p.Shards, connections)
		}
	}
	for page, parts := range pages(m, s) {
		data, err := os.ReadFile(filepath.Join(docs, page))
		if err != nil {
			t.Fatal(err)
		}
		want, err := replaceParts(string(data), parts)
		if err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		if want != string(data) {
			t.Errorf("docs/%s shows other figures than docs/evidence: %s", page, again)
		}
	}
	drawn, err := os.ReadFile(filepath.Join(docs, "images", "scale.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(drawn, picture(s)) {
		t.Errorf("docs/images/scale.svg is not what scale.json says: %s", again)
	}
}

// The simulation must give the published figures.
func TestScaleIsWhatTheSimulationSays(t *testing.T) {
	m, s := evidence(t)
	for _, d := range s.Decades {
		if d.Rate != 1_000 {
			continue
		}
		h := s.Hardware
		h.NodeCores, h.ServerCores = d.NodeCores, d.ServerCores
		got := constantsOf(m).decade(h, d.Rate, d.Nodes, d.Shards)
		near(t, "p50", got.P50, d.P50, 0.05)
		near(t, "load of a primary", got.PrimaryLoad, d.PrimaryLoad, 0.05)
		near(t, "cost", got.Cost, d.Cost, 0.02)
		return
	}
	t.Error("there is no decade of 1,000")
}

func TestThePictureIsWellFormed(t *testing.T) {
	_, s := evidence(t)
	dec := xml.NewDecoder(bytes.NewReader(picture(s)))
	dots := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if el, ok := tok.(xml.StartElement); ok && el.Name.Local == "circle" {
			dots++
		}
	}
	if want := 6*len(s.Decades) + len(s.Checks); dots != want {
		t.Errorf("%d dots, want %d", dots, want)
	}
}

func TestPartsOfAPage(t *testing.T) {
	page := "# T\n<!-- a: from docs/evidence, renewed by «make scale» -->\nold\n<!-- end -->\nrest\n"
	got, err := replaceParts(page, map[string]string{"a": "new\n"})
	if err != nil || !strings.Contains(got, "\nnew\n") || strings.Contains(got, "old") || !strings.HasSuffix(got, "rest\n") {
		t.Errorf("%q, %v", got, err)
	}
	if twice, err := replaceParts(got, map[string]string{"a": "new\n"}); err != nil || twice != got {
		t.Errorf("%q, %v", twice, err)
	}
	if _, err := replaceParts(page, map[string]string{"b": ""}); err == nil {
		t.Error("a part without a place was taken")
	}
	if _, err := replaceParts(strings.ReplaceAll(page, "<!-- end -->", ""), map[string]string{"a": ""}); err == nil {
		t.Error("a part without an end was taken")
	}
}

func TestNumbersAsPeopleReadThem(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.5: "0.5", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := number(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
