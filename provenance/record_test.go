package provenance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/text/language"
)

// library is a tracer over contents, the first of which is node 1.
func library(texts ...string) *Tracer {
	ix := postings.NewMemory()
	for i, text := range texts {
		ix.Add(floodmark.NodeID(i+1), Key{7}.Postings(text))
	}
	return &Tracer{Index: ix, Key: Key{7}}
}

// oneRecord reports whether two fields are in the same record.
func oneRecord(t *Tracer, nameA, a, nameB, b string) bool {
	for _, x := range t.Records(nameA, a) {
		if slices.Contains(t.Records(nameB, b), x) {
			return true
		}
	}
	return false
}

// Fields of one object are in the same record, and fields of different objects are not.
func TestRecordsKeepApart(t *testing.T) {
	for name, text := range map[string]string{
		"list":                `[{"id": "i1", "name": "n1"}, {"id": "i2", "name": "n2"}]`,
		"list in an object":   `{"files": [{"id": "i1", "name": "n1"}, {"id": "i2", "name": "n2"}]}`,
		"before a list":       `{"id": "i1", "name": "n1", "files": [{"id": "i2", "name": "n2"}]}`,
		"after a list":        `{"files": [{"id": "i2", "name": "n2"}], "id": "i1", "name": "n1"}`,
		"by key":              `{"x": {"id": "i1", "name": "n1"}, "y": {"id": "i2", "name": "n2"}}`,
		"by key in an object": `{"r": {"x": {"id": "i1", "name": "n1"}, "y": {"id": "i2", "name": "n2"}}}`,
		"list by key":         `{"r": {"id": "i1", "name": "n1", "l": [{"id": "i2", "name": "n2"}]}}`,
		"lists":               `{"a": [{"id": "i1", "name": "n1"}], "b": [{"id": "i2", "name": "n2"}]}`,
		"block":               "- id: i1\n  name: n1\n- id: i2\n  name: n2\n",
		"block in a key":      "files:\n- id: i1\n  name: n1\n- id: i2\n  name: n2\n",
		"block deeper":        "files:\n  - id: i1\n    name: n1\n  - id: i2\n    name: n2\n",
		"block before":        "id: i1\nname: n1\nfiles:\n- id: i2\n  name: n2\n",
		"block after":         "files:\n- id: i2\n  name: n2\nid: i1\nname: n1\n",
		"block by key":        "x:\n  id: i1\n  name: n1\ny:\n  id: i2\n  name: n2\n",
		"block list by key":   "r:\n  id: i1\n  name: n1\n  l:\n  - id: i2\n    name: n2\n",
		"block lists":         "a:\n- id: i1\n  name: n1\nb:\n- id: i2\n  name: n2\n",
	} {
		tr := library(text)
		if !oneRecord(tr, "id", "i1", "name", "n1") || !oneRecord(tr, "id", "i2", "name", "n2") {
			t.Errorf("%s: a record is torn apart: %s", name, text)
		}
		if oneRecord(tr, "id", "i1", "name", "n2") || oneRecord(tr, "id", "i2", "name", "n1") {
			t.Errorf("%s: two records are taken for one: %s", name, text)
		}
	}
}

// What a record holds in lists belongs to it.
func TestRecordsHoldLists(t *testing.T) {
	for _, text := range []string{
		`[{"id": "i1", "to": ["a", "b"], "name": "n1"}, {"id": "i2", "to": ["c"], "name": "n2"}]`,
		"- id: i1\n  to:\n  - a\n  - b\n  name: n1\n- id: i2\n  to:\n  - c\n  name: n2\n",
		"- id: i1\n  to:\n    - a\n    - b\n  name: n1\n- id: i2\n  to:\n    - c\n  name: n2\n",
		"id: i1\nto:\n- a\n- b\nname: n1\n",
		"r:\n  id: i1\n  to:\n  - a\n  - b\n  name: n1\n",
		`{"id": "i1", "to": ["a", "b"], "name": "n1"}`,
	} {
		tr := library(text)
		for _, to := range []string{"a", "b"} {
			if !oneRecord(tr, "to", to, "name", "n1") || !oneRecord(tr, "to", to, "id", "i1") {
				t.Errorf("%q is not of its record: %s", to, text)
			}
			if oneRecord(tr, "to", to, "id", "i2") || oneRecord(tr, "to", "c", "id", "i1") {
				t.Errorf("%q is of another: %s", to, text)
			}
		}
	}
}

func TestRecordsOfSeveralContents(t *testing.T) {
	tr := library(`[{"id": 7, "name": "Plan"}]`, "only text", "- id: 7.0\n  name: plan\n- id: 8\n  name: Zebra\n")
	if got := fmt.Sprint(tr.Records("file_id", "7")); got != "[{1 1} {3 2}]" {
		t.Error(got)
	}
	if got := tr.Records("name", "Plan"); len(got) != 2 || got[0].Node != 1 || got[1].Node != 3 {
		t.Error(got)
	}
	for _, r := range [][]Record{tr.Records("name", "text"), tr.Records("id", "Plan"), tr.Records("name", ""), tr.Records("other", "7"), (&Tracer{}).Records("id", "7"), (&Tracer{}).RecordsWith("Plan")} {
		if len(r) != 0 {
			t.Error(r)
		}
	}
	if got := tr.RecordsWith("Zebra"); len(got) != 1 || got[0].Node != 3 || got[0].At == tr.Records("id", "7")[1].At {
		t.Error(got)
	}
}

func TestExtremes(t *testing.T) {
	files := func(field string, values ...string) string {
		text := "["
		for i, v := range values {
			if i > 0 {
				text += ", "
			}
			text += fmt.Sprintf(`{"id": "f%d", "%s": %s}`, i, field, v)
		}
		return text + "]"
	}
	for _, c := range []struct{ said, text, want string }{
		{"the largest file", files("size", "5", "70", "9"), "f1"},
		{"the BIGGEST file", files("bytes", "5", "70", "9"), "f1"},
		{"the smallest file", files("size", "5", "70", "9"), "f0"},
		{"the largest file", files("size", `"5"`, `"70"`, `"100"`), "f2"},
		{"the newest file", files("created", `"2024-05-01"`, `"2024-05-03 10:00"`, `"2024-05-02"`), "f1"},
		{"the oldest file", files("created_at", `"2024-05-01T10:00"`, `"2024-05-03"`), "f0"},
		{"the cheapest", files("price", "5", "3.5"), "f1"},
		{"the priciest", files("cost", "5", "3.5"), "f0"},
		{"the largest file", files("size", "5", "70", "70"), ""},
		{"the smallest file", files("size", "5", "70", "70"), ""},
		{"the largest file", files("size", "5", "5", "70"), ""},
		{"the largest file", files("size", "5"), ""},
		{"the largest file", files("size", "5", `"big"`), ""},
		{"the largest file", `[{"id": "f0", "size": 5}, {"id": "f1"}, {"id": "f2", "size": 9}]`, ""},
		{"the largest file", files("price", "5", "6"), ""},
		{"the newest file", files("size", "5", "6"), ""},
		{"the large file", files("size", "5", "6"), ""},
		{`the file "the largest of all"`, files("size", "5", "6"), ""},
	} {
		tr := library(c.text)
		var s language.Stated
		s.Add(c.said)
		got := tr.Extremes(language.NewLexicon(), &s)
		switch {
		case c.want == "" && len(got) != 0, c.want != "" && (len(got) != 1 || got[0] != tr.Records("id", c.want)[0]):
			t.Errorf("%q in %s: %v", c.said, c.text, got)
		}
	}
	var s language.Stated
	s.Add("largest")
	if (&Tracer{}).Extremes(language.NewLexicon(), &s) != nil {
		t.Error("nothing has a largest")
	}
	both := library(files("size", "5", "6"), files("size", "9", "1"))
	if got := both.Extremes(language.NewLexicon(), &s); len(got) != 2 || got[0].Node != 1 || got[1].Node != 2 {
		t.Errorf("each content has its own: %v", got)
	}
}

func TestExtremesHaveALimit(t *testing.T) {
	var list []field
	for i := range maxExtremes + 1 {
		name := fmt.Sprintf("f%03d", i)
		list = append(list, field{name: name, value: "1", record: 1}, field{name: name, value: "2", record: 2})
	}
	got := extremes(list)
	if len(got) != 2*maxExtremes || got[len(got)-1].field != fmt.Sprintf("f%03d", maxExtremes-1) {
		t.Errorf("%d", len(got))
	}
	if got := extremes([]field{{name: fieldID, value: "1", record: 1}, {name: fieldID, value: "2", record: 2}}); len(got) != 0 {
		t.Error("an id is no size")
	}
}
