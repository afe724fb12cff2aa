package redact

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
)

// An example comes from gitleaks, whose generators made it for the tests of its rules. It is stored
// backwards here, so that scanners do not report it as a secret.
type example struct {
	Rule string `json:"rule"`
	Want bool   `json:"want"`
	Txet string `json:"txet"`
	text string
}

func examples(t testing.TB) []example {
	t.Helper()
	f, err := os.Open("testdata/examples.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	for dec := json.NewDecoder(z); ; {
		var e example
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		runes := []rune(e.Txet)
		slices.Reverse(runes)
		e.text = string(runes)
		list = append(list, e)
	}
}

// The figures that we publish. Nearly all secrets of gitleaks' own tests are found, and few of
// their counterexamples are reported as secrets. Two of these are counterexamples only because of
// the name of their file.
const (
	leastFound = 5987
	mostFalse  = 29
	falseByOwn = 2
)

func TestRecallOnGitleaksOwnExamples(t *testing.T) {
	d := New()
	secrets, found, byOwn, others, wrong, wrongByOwn := 0, 0, 0, 0, 0, 0
	for _, e := range examples(t) {
		spans := d.Find(e.text)
		own := slices.ContainsFunc(spans, func(s Span) bool { return s.Rule == e.Rule })
		switch {
		case e.Want:
			secrets++
			found += one(len(spans) > 0)
			byOwn += one(own)
			if len(spans) == 0 && e.Rule != "hashicorp-tf-password" {
				t.Errorf("%s: not found: %q", e.Rule, e.text)
			}
		default:
			others++
			wrong += one(len(spans) > 0)
			wrongByOwn += one(own)
		}
	}
	t.Logf("%d of %d secrets found (%.2f %%), %d by their own rule; of %d that are none %d taken for one, %d by the rule in question",
		found, secrets, 100*float64(found)/float64(secrets), byOwn, others, wrong, wrongByOwn)
	if found < leastFound || wrong > mostFalse || wrongByOwn > falseByOwn {
		t.Error("fewer secrets, or more that are none, than were published")
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
