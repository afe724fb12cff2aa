package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/floodmark/floodmark/internal/factjson"
)

func (b *bench) export(ids ...string) string {
	b.t.Helper()
	var out bytes.Buffer
	for _, id := range ids {
		if err := Export(b.t.Context(), b.j, named(id), &out); err != nil {
			b.t.Fatal(err)
		}
	}
	return out.String()
}

func TestExportForm(t *testing.T) {
	b := newBench(t)
	b.write("s1", 1)
	e := b.entries("s1")[0]
	want := `{"tenant":"firm","session":"s1","seq":1,"at":"2026-11-15T12:03:01Z","prev":"` + e.Prev.String() + `","hash":"` + e.Hash.String() +
		`","kind":"incident-seen","fact":{"kind":"test","text":"s1 0 \u003c\u0026\u003e"}}` + "\n"
	if diff := cmp.Diff(want, b.export("s1")); diff != "" {
		t.Error(diff)
	}
}

func TestExportIsReadBack(t *testing.T) {
	b := three(t)
	b.forget("s1")
	b.write("s1", 3)
	text := b.export("s1", "s2")
	sum, err := CheckExport(strings.NewReader(text), b.key.Verifiers())
	want := ExportReport{Sessions: 2, Entries: 9, Erased: 1, Last: Leaf{named("s2"), b.last[named("s2")]}}
	if err != nil || sum != want {
		t.Errorf("%+v, %v", sum, err)
	}
	var entries []Entry
	for x, err := range ReadExport(strings.NewReader(text), b.key.Verifiers()) {
		if err != nil {
			t.Fatal(err)
		}
		if x.Tombstone != nil {
			if diff := cmp.Diff(b.j.sessions[named("s1")].stone, x.Tombstone); diff != "" {
				t.Error(diff)
			}
			continue
		}
		entries = append(entries, x.Entry)
	}
	if diff := cmp.Diff(append(b.entries("s1"), b.entries("s2")...), entries); diff != "" {
		t.Error(diff)
	}
	if _, err := CheckExport(strings.NewReader(text), nil); !errors.Is(err, ErrForged) {
		t.Errorf("a tombstone without a key: %v", err)
	}
}

// What is exported is what is there, also if it is not what we wrote.
func TestExportKeepsAnyBody(t *testing.T) {
	for _, body := range []string{"", "null", "{ }", "{}\n", "\xff", `"<>"`, `{"a":1,"a":2}`, "\"\u2028\"", "0"} {
		b := newBench(t)
		b.write("s1", 1)
		e := &b.entries("s1")[0]
		e.Body = []byte(body)
		e.Hash, _ = e.sum(nil)
		if _, err := CheckExport(strings.NewReader(b.export("s1")), nil); err != nil {
			t.Errorf("body %q: %v", body, err)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	b := newBench(t)
	if err := Export(t.Context(), b.j, named("s1"), &bytes.Buffer{}); !errors.Is(err, ErrUnknownSession) {
		t.Errorf("unknown: %v", err)
	}
	if err := Export(t.Context(), b.j, named("\xff"), &bytes.Buffer{}); err == nil {
		t.Error("a name that is no text")
	}
	b.write("s1", 3)
	b.write("s2", 3)
	good := b.export("s1")
	lines := strings.SplitAfter(good, "\n")
	for name, text := range map[string]string{
		"empty":           "",
		"not JSON":        "hello\n",
		"two values":      strings.Replace(good, "}\n", "}{}\n", 1),
		"unknown field":   strings.Replace(good, `"seq"`, `"sequence"`, 1),
		"no name":         strings.ReplaceAll(good, `"s1"`, `""`),
		"another name":    strings.ReplaceAll(good, `"s1"`, `"s2"`),
		"a hole":          lines[0] + lines[2],
		"order":           lines[1] + lines[0],
		"twice":           good + lines[2],
		"session twice":   good + b.export("s2") + good,
		"other fact":      strings.Replace(good, "s1 1", "s1 7", 1),
		"other kind":      strings.Replace(good, "incident-seen", "endorsed", 1),
		"fact and body":   strings.Replace(good, `"fact"`, `"body":"AA==","fact"`, 1),
		"time zone":       strings.Replace(good, "01Z", "01+00:00", 1),
		"hash upper case": strings.Replace(good, `"hash":"`+b.entries("s1")[0].Hash.String(), `"hash":"`+strings.ToUpper(b.entries("s1")[0].Hash.String()), 1),
	} {
		if sum, err := CheckExport(strings.NewReader(text), b.key.Verifiers()); err == nil {
			t.Errorf("%s: %+v", name, sum)
		}
	}
	b.forget("s2")
	stone := b.export("s2")
	for name, text := range map[string]string{
		"a tombstone later":             good + strings.ReplaceAll(stone, `"s2"`, `"s1"`),
		"a tombstone of another":        strings.ReplaceAll(stone, `"s2"`, `"s1"`),
		"a tombstone with a number":     strings.Replace(stone, `"tombstone"`, `"seq":1,"tombstone"`, 1),
		"a tombstone of another reason": strings.Replace(stone, `owner`, `other`, 1),
	} {
		if sum, err := CheckExport(strings.NewReader(text), b.key.Verifiers()); err == nil {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}

func TestExportLineLimit(t *testing.T) {
	b := newBench(t)
	b.write("s1", 1)
	e := &b.entries("s1")[0]
	e.Body = bytes.Repeat([]byte{0xff}, factjson.MaxBytes)
	e.Hash, _ = e.sum(nil)
	text := b.export("s1")
	if _, err := CheckExport(strings.NewReader(text), nil); err != nil {
		t.Errorf("the largest fact: %v", err)
	}
	if _, err := CheckExport(strings.NewReader(strings.Repeat(" ", MaxExportLine)+text), nil); err == nil {
		t.Error("a line beyond the limit was read")
	}
}

// A law: no changed byte of an export goes unnoticed, unless it reads the same.
func TestExportLawAnyBit(t *testing.T) {
	b := newBench(t)
	b.write("s1", 2)
	b.forget("s1")
	b.write("s1", 3)
	text := b.export("s1")
	read := func(text string) string {
		var all string
		for x, err := range ReadExport(strings.NewReader(text), b.key.Verifiers()) {
			if err != nil {
				return "refused"
			}
			all += fmt.Sprintf("%+v %+v\n", x.Tombstone, x.Entry)
		}
		return all
	}
	want := read(text)
	rapid.Check(t, func(rt *rapid.T) {
		if got := read(flipText(rt, text)); got != "refused" && got != want {
			rt.Fatalf("read as %s", got)
		}
	})
}

func FuzzReadExport(f *testing.F) {
	b := newBench(f)
	b.write("s1", 2)
	f.Add([]byte(b.export("s1")))
	b.forget("s1")
	b.write("s1", 1)
	f.Add([]byte(b.export("s1")))
	f.Add([]byte(`{"tenant":"","session":"s","seq":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		prev := map[Session]Link{}
		for x, err := range ReadExport(bytes.NewReader(text), b.key.Verifiers()) {
			if err != nil {
				return
			}
			if x.Tombstone != nil {
				prev[x.Session] = x.Tombstone.Link
				continue
			}
			if err := Check(x.Session, prev[x.Session], x.Entry); err != nil {
				t.Fatal(err)
			}
			prev[x.Session] = x.Entry.Link()
		}
	})
}
