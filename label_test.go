package floodmark_test

import (
	"encoding"
	"testing"

	"github.com/floodmark/floodmark"
)

// There are few levels, so every law is checked for every combination.
func TestJoinLaws(t *testing.T) {
	all := allLabels()
	for _, a := range all {
		if a.Join(a) != a {
			t.Errorf("%v: join is not idempotent", a)
		}
		if a.Join(floodmark.Clean()) != a {
			t.Errorf("%v: Clean is not neutral", a)
		}
		if a.Join(floodmark.Label{}) != (floodmark.Label{}) {
			t.Errorf("%v: the zero label does not win", a)
		}
		for _, b := range all {
			if a.Join(b) != b.Join(a) {
				t.Errorf("%v %v: join is not commutative", a, b)
			}
			if j := a.Join(b); !j.AtLeastAsSafe(a) || !j.AtLeastAsSafe(b) {
				t.Errorf("%v %v: join is less safe than its part", a, b)
			}
			if j := a.Join(b); j.Trust != min(a.Trust, b.Trust) || j.Secrecy != min(a.Secrecy, b.Secrecy) {
				t.Errorf("%v %v: join is %v, not the minimum of both", a, b, j)
			}
			if a.AtLeastAsSafe(b) != (a.Trust <= b.Trust && a.Secrecy <= b.Secrecy) {
				t.Errorf("%v %v: AtLeastAsSafe is wrong", a, b)
			}
			for _, c := range all {
				if a.Join(b).Join(c) != a.Join(b.Join(c)) {
					t.Fatalf("%v %v %v: join is not associative", a, b, c)
				}
			}
		}
	}
}

// An unset security value must never permit anything.
func TestZeroValuesAreTheSafest(t *testing.T) {
	var l floodmark.Label
	for _, m := range allLabels() {
		if !l.AtLeastAsSafe(m) {
			t.Errorf("zero label is less safe than %v", m)
		}
	}
	if v := (floodmark.Decision{}).Verdict; v != floodmark.Restrict {
		t.Errorf("zero decision is %v", v)
	}
	var e floodmark.Effect
	var r floodmark.Role
	var w floodmark.Whence
	if e != floodmark.Admin || r != floodmark.Undeclared || w != floodmark.Nowhere {
		t.Errorf("zero effect %v, role %v, whence %v", e, r, w)
	}
}

// The order of each security type, from the safest.
func TestOrderIsSafestFirst(t *testing.T) {
	want := []string{
		"untrusted external shared local owner system",
		"secret private internal public",
		"restrict confirm audit allow",
		"admin run send change write fetch observe",
		"undeclared critical content",
		"nowhere seen stated",
	}
	got := make([]string, len(want))
	for i := range 8 {
		for k, v := range []interface{ String() string }{
			floodmark.Trust(i), floodmark.Secrecy(i), floodmark.Verdict(i),
			floodmark.Effect(i), floodmark.Role(i), floodmark.Whence(i),
		} {
			if b, err := v.(encoding.TextMarshaler).MarshalText(); err == nil {
				if got[k] != "" {
					got[k] += " "
				}
				got[k] += string(b)
			}
		}
	}
	for k := range want {
		if got[k] != want[k] {
			t.Errorf("order is %q, want %q", got[k], want[k])
		}
	}
}

// Values are words on the wire. A reader refuses unknown words, and its value is then the safest
// one.
func TestWordsGoThereAndBack(t *testing.T) {
	for i := range 8 {
		trust, secrecy, verdict := floodmark.Trust(i), floodmark.Secrecy(i), floodmark.Verdict(i)
		effect, role, whence := floodmark.Effect(i), floodmark.Role(i), floodmark.Whence(i)
		backAndForth(t, &trust, i <= 5)
		backAndForth(t, &secrecy, i <= 3)
		backAndForth(t, &verdict, i <= 3)
		backAndForth(t, &effect, i <= 6)
		backAndForth(t, &role, i <= 2)
		backAndForth(t, &whence, i <= 2)
	}
}

type level interface {
	~uint8
	encoding.TextMarshaler
	String() string
}

func backAndForth[L level, P interface {
	*L
	encoding.TextUnmarshaler
}](t *testing.T, v P, known bool) {
	t.Helper()
	word, err := (*v).MarshalText()
	if (err == nil) != known {
		t.Errorf("%v: marshal error %v", *v, err)
	}
	if !known {
		return
	}
	if (*v).String() != string(word) {
		t.Errorf("%v is written as %q", *v, word)
	}
	var back L
	if err := P(&back).UnmarshalText(word); err != nil || back != *v {
		t.Errorf("%q is read as %v, %v", word, back, err)
	}
	for _, wrong := range []string{"", "Allow", "TRUSTED", string(word) + " ", "9"} {
		back = *v
		if err := P(&back).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is read as %v", wrong, back)
		} else if back != 0 {
			t.Errorf("after the wrong word %q the value is %v, not the safest", wrong, back)
		}
	}
}

func TestLabelValid(t *testing.T) {
	for _, l := range allLabels() {
		if !l.Valid() {
			t.Errorf("%v is not valid", l)
		}
	}
	for _, l := range []floodmark.Label{{Trust: 6}, {Secrecy: 4}, {Trust: 255, Secrecy: 255}} {
		if l.Valid() {
			t.Errorf("%v is valid", l)
		}
	}
}

func TestDigest(t *testing.T) {
	d := floodmark.DigestOf("hello")
	if d.IsZero() || d.Short() != "2cf24dba" {
		t.Errorf("digest of hello is %v", d)
	}
	for _, wrong := range []string{"", "2cf24dba", d.String() + "00", "zz" + d.String()[2:]} {
		back := d
		if err := back.UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is read as a digest", wrong)
		}
	}
	var back floodmark.Digest
	if err := back.UnmarshalText([]byte(d.String())); err != nil || back != d {
		t.Errorf("digest reads back as %v, %v", back, err)
	}
}

func allLabels() []floodmark.Label {
	var all []floodmark.Label
	for i := floodmark.Untrusted; i <= floodmark.System; i++ {
		for s := floodmark.Secret; s <= floodmark.Public; s++ {
			all = append(all, floodmark.Label{Trust: i, Secrecy: s})
		}
	}
	return all
}
