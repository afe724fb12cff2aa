package cardscreen_test

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/wire"
)

const told = "9c1185a5c5e9fc54612808977ee8f548b2258d31"

// ledTo returns a question that a message of a group led to.
func ledTo() *wire.Question {
	q := asked("t1", "git push")
	one := q.GetCalls()[0]
	one.Why, one.Mark = "It had read “message from bob” (shared with others).", &wire.Label{Trust: "shared", Secrecy: "internal"}
	one.Sources = []*wire.Source{{
		Node: 3, Digest: told, Label: &wire.Label{Trust: "shared", Secrecy: "internal"},
		Origin: &wire.Origin{Kind: "sender", Name: "slack", Sender: "bob", Group: "general"},
	}}
	return q
}

// newTrusting returns a desk that may trust sources, and the requests that it sent.
func newTrusting() (d *desk, sent *[]*wire.EndorseRequest) {
	d, sent = newDesk(), &[]*wire.EndorseRequest{}
	d.Vouch = func(r *wire.EndorseRequest) { *sent = append(*sent, r) }
	return d, sent
}

func TestASourceIsTrustedByTwoKeys(t *testing.T) {
	d, sent := newTrusting()
	d.Put(ledTo())
	if got := d.draws(80, 24); !strings.Contains(got, "y yes · n no · t trust this source · d details and longer answers · 16m40s left") {
		t.Errorf("the card:\n%s", got)
	}
	d.press(t, "t")
	got := strings.NewReplacer("\n↳ ", "").Replace(d.Draw80())
	for _, want := range []string{
		"Trust “message from bob” (shared with others)?", "sender “bob”, group “general”", "digest 9c1185a5c5e9:", "in every session",
		"until you take it back: «floodmark trust --withdraw s 9c1185a5c5e9»", "enter: trust it · esc: do not",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	d.press(t, "enter")
	if len(*sent) != 0 {
		t.Fatal("trusted in the moment in which it was shown")
	}
	d.draws(80, 24)
	d.press(t, "enter")
	if len(*sent) != 1 || (*sent)[0].GetSession() != "s" || (*sent)[0].GetDigest() != told {
		t.Fatalf("sent %v", *sent)
	}
	d.Vouched(&wire.EndorseResponse{Done: true, Notice: "Endorsed: message from bob (local).", Mark: &wire.Label{Trust: "local", Secrecy: "internal"}})
	after := ledTo()
	after.GetCalls()[0].Sources[0].Label.Trust = "local" // as the monitor sends it from now on
	d.Put(after)
	if got := d.draws(100, 24); !strings.HasPrefix(got, "Endorsed: message from bob (local). The session's mark is local, internal. Answer this question") || strings.Contains(got, "t trust") {
		t.Errorf("after it:\n%s", got)
	}
	if r := d.press(t, "y"); r.GetVerb() != "approve" { // the question still waits
		t.Errorf("%v, %q", r, d.Notice)
	}
}

// Draw80 draws, but does not wait for a reader.
func (d *desk) Draw80() string { return join(d.Draw(80, 24)) }

// A name that others chose cannot close the quotation marks around it.
func TestANameEndsWhereItEnds(t *testing.T) {
	d, _ := newTrusting()
	q := ledTo()
	q.GetCalls()[0].Sources[0].Origin.Group = "x”, sender “boss"
	d.Put(q)
	d.draws(80, 24)
	d.press(t, "t")
	if got := strings.NewReplacer("\n↳ ", "").Replace(d.draws(160, 24)); strings.Contains(got, "sender “boss") || !strings.Contains(got, "x⟨U+201D⟩, sender ⟨U+201C⟩boss") {
		t.Errorf("a name says more than it is:\n%s", got)
	}
}

// A question that is updated may name another source, which was not shown yet.
func TestAnotherSourceIsNotTrusted(t *testing.T) {
	d, sent := newTrusting()
	d.Put(ledTo())
	d.draws(80, 24)
	d.press(t, "t")
	d.draws(80, 24)
	another := ledTo()
	another.GetCalls()[0].Sources[0].Digest = strings.Repeat("a", len(told))
	d.Put(another)
	if d.press(t, "enter"); len(*sent) != 0 {
		t.Error("trusted what was not shown")
	}
}

// No key but enter trusts a source, and none answers the card behind the confirmation.
func TestOneKeyTrustsNothing(t *testing.T) {
	for _, key := range []string{"t", "y", "n", "a", "2", "esc", "q", "space", "d", "?", "up"} {
		d, sent := newTrusting()
		d.Put(ledTo())
		d.draws(80, 24)
		d.press(t, "t")
		d.draws(80, 24)
		if r, taken := d.Key(key); r != nil || !taken || d.Notice != "Nothing is trusted." {
			t.Errorf("%s: %v, %q", key, r, d.Notice)
		}
		if d.press(t, "enter"); len(*sent) != 0 {
			t.Errorf("%s, then enter: trusted", key)
		}
	}
	d, sent := newTrusting()
	d.Put(ledTo())
	d.Draw(80, 24)
	if d.press(t, "t"); strings.Contains(d.draws(80, 24), "Trust “") {
		t.Error("a key for a card that has only just come")
	}
	d.press(t, "t")
	d.draws(80, 24)
	changed := ledTo()
	changed.Seen = "other"
	d.Put(changed)
	d.draws(80, 24)
	if d.press(t, "enter"); len(*sent) != 0 {
		t.Error("trusted for a question that has changed")
	}
	d.press(t, "t")
	d.draws(80, 24)
	elsewhere := ledTo() // the source was trusted elsewhere
	elsewhere.Seen, elsewhere.GetCalls()[0].Sources[0].Label.Trust = "other", "local"
	d.Put(elsewhere)
	d.draws(80, 24)
	if d.press(t, "enter"); len(*sent) != 0 {
		t.Error("trusted again")
	}
	d.Put(changed)
	d.draws(80, 24)
	d.press(t, "t")
	d.draws(80, 24)
	d.at = time.Unix(2000, 0)
	d.Expire()
	if d.press(t, "enter"); len(*sent) != 0 || d.Notice != "The question has ended." {
		t.Errorf("trusted for a question that has ended: %q", d.Notice)
	}
	d, sent = newTrusting()
	d.Put(ledTo())
	d.draws(80, 24)
	d.press(t, "t")
	d.draws(80, 5) // not all of it fits
	if d.press(t, "enter"); len(*sent) != 0 {
		t.Error("trusted what was not shown")
	}
}

// The key exists only for a single source that the reason names and that came in as shared, and
// only if the monitor lets this terminal trust sources.
func TestWhereNoSourceIsTrusted(t *testing.T) {
	level := func(trust string) func(*desk, *wire.Question) {
		return func(_ *desk, q *wire.Question) {
			one := q.GetCalls()[0]
			one.Sources[0].Label.Trust, one.Mark.Trust = trust, trust
		}
	}
	one := func(change func(*wire.AskedCall)) func(*desk, *wire.Question) {
		return func(_ *desk, q *wire.Question) { change(q.GetCalls()[0]) }
	}
	another := &wire.Source{Digest: strings.Repeat("a", 40), Label: &wire.Label{Trust: "shared"}}
	worse := &wire.Source{Digest: told, Label: &wire.Label{Trust: "untrusted"}}
	for name, change := range map[string]func(*desk, *wire.Question){
		"untrusted": level("untrusted"), "external": level("external"), "local": level("local"), "owner": level("owner"), "nothing": level(""),
		"first seen below": one(func(c *wire.AskedCall) { c.Sources[0].Label.Trust = "external" }),
		"a mark below":     one(func(c *wire.AskedCall) { c.Mark.Trust = "untrusted" }),
		"no mark":          one(func(c *wire.AskedCall) { c.Mark = nil }),
		"no source":        one(func(c *wire.AskedCall) { c.Sources = nil }),
		"no digest":        one(func(c *wire.AskedCall) { c.Sources[0].Digest = "" }),
		"no name":          one(func(c *wire.AskedCall) { c.Sources[0].Origin = &wire.Origin{Kind: "model"} }),
		"two sources":      one(func(c *wire.AskedCall) { c.Sources = append(c.Sources, another) }),
		"also from below":  one(func(c *wire.AskedCall) { c.Sources = append(c.Sources, worse) }),
		"a list cut":       one(func(c *wire.AskedCall) { c.Sources = append(c.Sources, c.Sources[0], c.Sources[0]) }),
		"another reason":   one(func(c *wire.AskedCall) { c.Why = "It had read “page” (shared with others)." }),
		"a name in a name": one(func(c *wire.AskedCall) {
			c.Why = "It had read “⟨U+201C⟩message from bob⟨U+201D⟩ (shared with others)” (anyone can write there)."
		}),
		"two calls":         func(_ *desk, q *wire.Question) { q.Calls = append(q.Calls, q.Calls[0]) },
		"no code":           func(_ *desk, q *wire.Question) { q.Code = "" },
		"nobody may vouch":  func(d *desk, _ *wire.Question) { d.Vouch = nil },
		"trusted already":   one(func(c *wire.AskedCall) { c.Sources[0].Label.Trust = "local" }),
		"more than was cut": one(func(c *wire.AskedCall) { c.Sources = []*wire.Source{another, worse} }),
	} {
		d, sent := newTrusting()
		q := ledTo()
		change(d, q)
		d.Put(q)
		got := d.draws(80, 24)
		d.press(t, "t")
		again := d.draws(80, 24)
		d.press(t, "enter")
		if len(*sent) != 0 || strings.Contains(got+again, "trust this source") || strings.Contains(again, "Trust “") {
			t.Errorf("%s: sent %v\n%s\n%s", name, *sent, got, again)
		}
	}
}

// If the monitor refuses, its reason is shown and the key stays. In a fleet no codes are shown; the
// login decides.
func TestATrustThatIsRefused(t *testing.T) {
	d, sent := newTrusting()
	d.Fleet = true
	q := ledTo()
	q.Code = ""
	d.Put(q)
	d.draws(80, 24)
	d.press(t, "t")
	d.draws(80, 24)
	d.press(t, "enter")
	if len(*sent) != 1 {
		t.Fatalf("sent %v", *sent)
	}
	d.Vouched(&wire.EndorseResponse{Notice: "a person at a terminal must say this"})
	if got := d.draws(80, 24); !strings.HasPrefix(got, "a person at a terminal must say this\n") || !strings.Contains(got, "t trust") {
		t.Errorf("refused, and:\n%s", got)
	}
}

// ? shows what each key does, also if no question waits. No key answers the card that the help
// hides.
func TestTheKeysAreShown(t *testing.T) {
	d, _ := newTrusting()
	d.press(t, "?")
	if got := d.draws(80, 24); !strings.Contains(got, "No question waits now") || !strings.Contains(got, "q: end") {
		t.Errorf("nothing waits:\n%s", got)
	}
	d.press(t, "?")
	d.Put(ledTo())
	d.draws(80, 24)
	d.press(t, "?")
	got := d.draws(80, 24)
	for _, want := range []string{"y: yes to this call, once", "n: no: it is refused", "t: you trust", "d: all of the call", "2: yes to the same for 30 min", "up, down:"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if r, taken := d.Key("y"); r != nil || !taken || !strings.Contains(d.draws(80, 24), "y yes") {
		t.Errorf("a yes to a card that was hidden: %v", r)
	}
	if d.press(t, "?"); len(strings.Split(d.draws(80, 3), "\n")) > 3 {
		t.Error("more rows than there is room for")
	}
	d.press(t, "esc")
	d.draws(80, 24)
	if r := d.press(t, "y"); r.GetVerb() != "approve" {
		t.Errorf("%v, %q", r, d.Notice)
	}
}

// The questions that an agent waits for come first in a list, the newest of them at the top.
func TestTheOrderOfAList(t *testing.T) {
	over, old, newer := asked("t1", "over"), asked("t2", "old"), asked("t3", "newer")
	over.Over = true
	newer.Expires.Seconds++
	over.Expires.Seconds += 2
	var names []string
	for _, q := range cardscreen.Listed([]*wire.Question{over, old, newer}) {
		names = append(names, q.GetTicket())
	}
	if got := strings.Join(names, " "); got != "t3 t2 t1" {
		t.Error(got)
	}
}
