package provenance

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/ledger/postings"
)

func TestLabelled(t *testing.T) {
	x := postings.NewMemory()
	x.Add(3, testKey().Postings("About Ada. Email: ada@home.example, Club Username: ada.club\nClub Password: \"open sesame\" Bank Account Password: richrich8 Phone : 12345 door:oak Note: see here"))
	x.Add(4, testKey().Postings(`{"email":"bert@home.example"}`))
	x.Add(5, testKey().Postings(strings.Repeat("x ", maxLabelText/2)+"Email: late@home.example"))
	tr := &Tracer{Key: testKey(), Index: x}
	for _, c := range []struct {
		label, value string
		want         bool
	}{
		{"email", "ada@home.example", true},
		{"Email", "ADA@home.example", true},
		{"username", "ada.club", true},
		{"password", "open sesame", true},
		{"email", "bert@home.example", true},
		{"password", "richrich8", false},
		{"phone", "12345", true},
		{"username", "ada@home.example", false},
		{"club", "ada.club", false},
		{"note", "see", true},
		{"note", "here", false},
		{"email", "late@home.example", false},
		{"email", "", false},
		{"email", strings.Repeat("a", maxFieldValue+1), false},
	} {
		if got := len(tr.Labelled(c.label, c.value)) > 0; got != c.want {
			t.Errorf("%s: %s: %v", c.label, c.value, got)
		}
	}
	if spans := (&Tracer{Key: testKey()}).Labelled("email", "ada@home.example"); spans != nil {
		t.Error("found in nothing")
	}
}

// The beginning of a list's element is no labelled value, also if a zero byte stands in it where one
// stands between a label and its value: labels about money are not collected at all.
func TestAnElementIsNoLabel(t *testing.T) {
	x := postings.NewMemory()
	x.Add(3, testKey().Postings("- iban\x00de89-1\n- other\n"))
	tr := &Tracer{Key: testKey(), Index: x}
	if got := tr.Labelled("iban", "de89"); len(got) > 0 {
		t.Errorf("labelled at %v", got)
	}
	if tr.Beginning(3, "iban\x00de89") != 1 {
		t.Error("the element is not collected")
	}
}

func TestLabelsAreBounded(t *testing.T) {
	count := func(n int) int {
		ix := &Indexer{hasher: newHasher(testKey())}
		ix.labels(strings.Repeat("Key: v1. ", n))
		return len(ix.out)
	}
	if count(maxLabels) != maxLabels || count(maxLabels+1) != maxLabels {
		t.Error(count(maxLabels), count(maxLabels+1))
	}
}

func TestListedInAString(t *testing.T) {
	for value, want := range map[string]string{
		`['ada', 'bert']`:  "ada|bert",
		`["ada"]`:          "ada",
		`[]`:               "",
		`['ada', bert]`:    "",
		`['ada' 'bert']`:   "",
		`['ada','bert']`:   "",
		`['ada', ]`:        "",
		`['ada', 'bert'] `: "",
		`['ada', 'b\'t']`:  "",
		`x['ada']`:         "",
		`['ada`:            "",
		`[`:                "",
		`['']`:             "",
	} {
		var got []string
		for _, s := range listed(value) {
			got = append(got, value[s[0]:s[1]])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q", value, got)
		}
	}
	found, ok := readFields(`{"owner":"ada","members":"['bert', 'cleo']"}`)
	n := 0
	for _, f := range found {
		if f.name == "members" && (f.value == "bert" || f.value == "cleo") && strings.HasPrefix(`{"owner":"ada","members":"['bert', 'cleo']"}`[f.at:], f.value) {
			n++
		}
	}
	if !ok || n != 2 {
		t.Errorf("%+v", found)
	}
}
