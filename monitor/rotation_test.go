package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// node is a desk with some of a tenant's keys.
func node(tb testing.TB, j journal.Journal, r provenance.Ring) *desk {
	tb.Helper()
	return newDesk(tb, j, coding(tb), withRing(&r), often)
}

// keyOf returns the name of the key a session was created with, by its facts.
func keyOf(tb testing.TB, j journal.Journal, id string) string {
	tb.Helper()
	state, err := kernel.Replay(facts(tb, j, session(id)))
	if err != nil {
		tb.Fatal(err)
	}
	return state.Key
}

// A session keeps the key it was created with, and a branch has its parent's; new sessions have the
// current one.
func TestASessionKeepsItsKey(t *testing.T) {
	j := journal.NewMemory()
	before, after := node(t, j, ring(2, 1)), node(t, j, ring(2, 0))
	poisoned(t, before, "old")
	poisoned(t, after, "new")
	for _, d := range []*desk{after, before} { // each goes on at the other node
		for i, id := range []string{"old", "new"} {
			d.clock.Add(int64(time.Minute))
			d.tell(t, says(id, fmt.Sprint("go on ", i)))
			d.tell(t, mail(id, "c"+d.cfg.NewCode()))
		}
	}
	after.tell(t, spawns("old", "old-k"))
	before.tell(t, spawns("new", "new-k"))
	for id, want := range map[string]string{"old": "", "old-k": "", "new": ringKey(2).Name, "new-k": ringKey(2).Name} {
		if got := keyOf(t, j, id); got != want {
			t.Errorf("%s was born with %q, want %q", id, got, want)
		}
	}
}

// What a session with one key read and left behind is recognised by one with another, in both
// directions: a foreign value, a secret, an endorsement.
func TestWhatIsSeenUnderOneKeyIsKnownUnderAnother(t *testing.T) {
	for name, order := range map[string][2]provenance.Ring{
		"first, then second": {ring(2, 1), ring(2, 0)},
		"second, then first": {ring(2, 0), ring(2, 1)},
		"second, then third": {ring(3, 1), ring(3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			j := journal.NewMemory()
			one, two := node(t, j, order[0]), node(t, j, order[1])
			begun := at("a", hook.SessionStart)
			begun.Project = "/work"
			one.tell(t, begun)
			fetch := calls("a", "c0", "web_fetch", `{"url":"https://news.example/today"}`)
			one.tell(t, fetch)
			one.tell(t, returns(fetch, page+" "+secretPage))
			write := calls("a", "c1", "write", `{"path":"/work/notes.md","content":"notes"}`)
			one.tell(t, write)
			one.tell(t, returns(write, "written"))

			if got := reads(t, two, "b", "/work/notes.md"); got.Trust != floodmark.Untrusted || got.Secrecy != floodmark.Secret {
				t.Errorf("the file is worth %s", got)
			}
			if a, b := keyOf(t, j, "a"), keyOf(t, j, "b"); a == b {
				t.Fatalf("both have the key %q", a)
			}
			two.tell(t, calls("b", "m1", "send_email", `{"to":"mallory@evil.example","body":"hello"}`))
			two.tell(t, calls("b", "m2", "send_email", `{"to":"anna@firm.example","body":"floodmark-canary-4k7q1z9m3x8v5c2b6n0w7r1t"}`))
			seen, carried := false, false
			for _, f := range facts(t, j, session("b")) {
				if d, ok := f.(floodmark.ActionDecided); ok && d.Basis != nil {
					for _, a := range d.Action.Arguments {
						seen = seen || a.Whence == floodmark.Seen && a.Trust == floodmark.Untrusted
					}
					carried = carried || d.Basis.SecretInArgs && len(d.Basis.Carried) > 0 && d.Basis.Carried[0].Seen
				}
			}
			if !seen || !carried {
				t.Errorf("a stranger's address is known: %v; a secret: %v", seen, carried)
			}
		})
	}
}

// The owner's endorsement under one key counts under another, and so does its withdrawal.
func TestWordsOfTheOwnerCountUnderEveryKey(t *testing.T) {
	j := journal.NewMemory()
	one, two := node(t, j, ring(2, 1)), node(t, j, ring(2, 0))
	leaks(t, one, "a", "/work/notes.md")
	reads(t, one, "b", "/work/notes.md")
	reads(t, two, "c", "/work/notes.md")
	say := func(d *desk, id string, verb approval.Verb) {
		t.Helper()
		d.clock.Add(int64(time.Second))
		if _, err := d.Answer(t.Context(), session(id), approval.Command{Verb: verb, Digest: floodmark.DigestOf(page).String(), By: "owner"}); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(d *desk, id string) floodmark.Trust {
		d.tell(t, says(id, "go on"))
		seen := d.observed()
		return seen[len(seen)-1].Mark.Trust
	}
	for i, c := range []struct {
		d    *desk
		id   string
		verb approval.Verb
		want floodmark.Trust
	}{
		{one, "b", approval.Endorse, floodmark.Local},
		{two, "c", approval.Withdraw, floodmark.Untrusted},
		{two, "c", approval.Endorse, floodmark.Local},
		{one, "b", approval.Withdraw, floodmark.Untrusted},
	} {
		say(c.d, c.id, c.verb)
		if b, c1 := mark(one, "b"), mark(two, "c"); b != c.want || c1 != c.want {
			t.Errorf("%d: %s in %s: b is at %s, c at %s", i, c.verb, c.id, b, c1)
		}
	}
}

// A rewritten file has nothing of its old content, with any keys of its two writers: no old
// artifact remains under any key.
func TestAFileWrittenAnewIsCleanUnderEveryKey(t *testing.T) {
	before, after := ring(2, 1), ring(2, 0)
	for name, order := range map[string][2]provenance.Ring{
		"first, first": {before, before}, "first, second": {before, after}, "second, first": {after, before}, "second, second": {after, after},
	} {
		j := journal.NewMemory()
		one, two := node(t, j, order[0]), node(t, j, order[1])
		leaks(t, one, "a", "/work/notes.md")
		begun := at("b", hook.SessionStart)
		begun.Project = "/work"
		two.tell(t, begun)
		write := calls("b", "w", "write", `{"path":"/work/notes.md","content":"anew"}`)
		two.tell(t, write)
		two.tell(t, returns(write, "written"))
		if got := reads(t, one, "c", "/work/notes.md"); got.Trust != floodmark.Local {
			t.Errorf("%s: the file is worth %s", name, got)
		}
	}
}

// A node without the new key refuses sessions created with it, and every session that meets their
// artifacts: it never ignores them.
func TestANodeWithoutTheNewKeyRefuses(t *testing.T) {
	j := journal.NewMemory()
	behind, ahead := node(t, j, ring(1, 0)), node(t, j, ring(2, 0))
	reads(t, behind, "mine", "/work/other.md")
	leaks(t, ahead, "theirs", "/work/notes.md")
	refused(t, behind, says("theirs", "go on"), monitor.ErrNoKey)
	// It continues with what no node with the new key has touched.
	behind.tell(t, says("mine", "go on"))
	refused(t, behind, calls("mine", "r2", "read", `{"path":"/work/notes.md"}`), journal.ErrBroken)
	refused(t, behind, calls("mine", "r3", "exec", `{"command":"sh /work/notes.md"}`), journal.ErrBroken)
	// Nor does it endorse a content that a node with the new key has already endorsed.
	poisoned(t, behind, "also")
	word := approval.Command{Verb: approval.Endorse, Digest: floodmark.DigestOf(page).String(), By: "owner"}
	if _, err := ahead.Answer(t.Context(), session("theirs"), word); err != nil {
		t.Fatal(err)
	}
	if _, err := behind.Answer(t.Context(), session("also"), word); !errors.Is(err, journal.ErrBroken) {
		t.Errorf("it vouches over a word it cannot read: %v", err)
	}
	// A node with both keys serves all sessions.
	for _, id := range []string{"mine", "also", "theirs"} {
		ahead.tell(t, says(id, "go on"))
	}
}

// The same node, restarted with the new key, works.
func TestANodeIsGivenTheKeyAndGoesOn(t *testing.T) {
	j := journal.NewMemory()
	leaks(t, node(t, j, ring(2, 0)), "theirs", "/work/notes.md")
	keys := ring(1, 0)
	d := newDesk(t, j, coding(t), withRing(&keys))
	refused(t, d, says("theirs", "go on"), monitor.ErrNoKey)
	keys = ring(2, 0)
	d.tell(t, says("theirs", "go on"))
	if got := reads(t, d, "mine", "/work/notes.md"); got.Trust != floodmark.Untrusted {
		t.Errorf("the file is worth %s", got)
	}
}

// Nothing new is stored under a former key, even for sessions created with it; what is stored there
// is found, and the newest artifact of a session counts.
func TestNothingNewUnderAFormerKey(t *testing.T) {
	j := &counted{Journal: journal.NewMemory()}
	one := node(t, j, ring(1, 0))
	leaks(t, one, "old", "/work/notes.md")
	keys := ring(2, 0)
	keys.Keys[0].Former = true
	two := node(t, j, keys)
	j.words = nil
	leaks(t, two, "new", "/work/fresh.md")
	write := calls("old", "c9", "write", `{"path":"/work/notes.md","content":"more"}`)
	two.tell(t, write)
	two.tell(t, returns(write, "written"))
	if len(j.words) == 0 {
		t.Fatal("nothing was left behind")
	}
	first := node(t, j, ring(1, 0))
	for _, w := range j.words {
		if w.Gone() {
			continue
		}
		if found, err := j.Artifacts(t.Context(), w.Tenant, []floodmark.Digest{w.Key}); err != nil || len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
	}
	// A node with only the first key finds none of it under the names it knows.
	first.tell(t, at("x", hook.SessionStart))
	for _, path := range []string{"/work/notes.md", "/work/fresh.md"} {
		if got := reads(t, two, "reader of "+path, path); got.Trust != floodmark.Untrusted {
			t.Errorf("%s is worth %s", path, got)
		}
	}
	if got := reads(t, first, "behind", "/work/fresh.md"); got.Trust != floodmark.Local {
		t.Errorf("something new lies under the former key: %s", got)
	}
}

// A counted journal records the artifacts that were left.
type counted struct {
	journal.Journal
	words []journal.Artifact
}

func (c *counted) Append(ctx context.Context, b journal.Batch) error {
	c.words = append(c.words, b.Artifacts...)
	return c.Journal.Append(ctx, b)
}

// A session whose beginning was erased continues under the tenant's first key: what it sees later
// is recognised, and so is what remains from before.
func TestAnErasedSessionGoesOn(t *testing.T) {
	j := journal.NewMemory()
	d := node(t, j, ring(2, 0))
	poisoned(t, d, "s")
	view, err := d.View(t.Context(), session("s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Erase(t.Context(), journal.Tombstone{Session: session("s"), Link: view.Link, Mark: view.State.Mark(), Why: "owner"}); err != nil {
		t.Fatal(err)
	}
	if err := d.Forget(t.Context(), session("s")); err != nil {
		t.Fatal(err)
	}
	if reply := d.tell(t, mail("s", "c1")); reply.Decision.Verdict == floodmark.Allow {
		t.Errorf("%+v", reply)
	}
	if view, err = d.View(t.Context(), session("s")); err != nil || view.State.Key != "" || view.State.Mark().Trust != floodmark.Untrusted {
		t.Errorf("key %q, %v, %v", view.State.Key, view.State.Mark(), err)
	}
}

// Reading a journal needs no key; judging with a missing key is refused in plain words, and so is a
// tenant without any key.
func TestAKeyThatIsGone(t *testing.T) {
	j := journal.NewMemory()
	poisoned(t, node(t, j, ring(2, 0)), "s")
	without := provenance.Ring{Keys: []provenance.RingKey{ringKey(1), ringKey(3)}, Current: 1}
	d := node(t, j, without)
	_, err := d.Handle(t.Context(), "", mail("s", "c1"))
	var r *monitor.Refusal
	if !errors.As(err, &r) || !errors.Is(err, monitor.ErrNoKey) || !strings.Contains(r.Hint, "tenants.keys") {
		t.Errorf("%v", err)
	}
	if _, err := d.View(t.Context(), session("s")); err != nil {
		t.Errorf("what happened cannot be looked at: %v", err)
	}
	for _, empty := range []provenance.Ring{{}, {Keys: without.Keys, Current: 2}} {
		refused(t, node(t, journal.NewMemory(), empty), at("n", hook.SessionStart), monitor.ErrNoKey)
	}
}

// The index names under later keys cannot be chosen: otherwise a page whose digest equals such a
// name would be taken for another page's index, and that page's values would pass as unseen.
func TestNoPageTakesThePlaceOfAnothersIndex(t *testing.T) {
	j := journal.NewMemory()
	read := func(d *desk, id, call, text string) {
		fetch := calls(id, call, "web_fetch", `{"url":"https://news.example/`+call+`"}`)
		d.tell(t, fetch)
		d.tell(t, returns(fetch, text))
	}
	digest := floodmark.DigestOf(page)
	forged := "floodmark index\x00" + ringKey(2).Name + "\x00" + string(digest[:])
	before, after := node(t, j, ring(2, 1)), node(t, j, ring(2, 0))
	before.tell(t, at("old", hook.SessionStart))
	read(before, "old", "c0", forged)
	after.tell(t, at("new", hook.SessionStart))
	read(after, "new", "c1", page)

	again := node(t, j, ring(2, 0)) // which knows what the journal has
	again.tell(t, mail("new", "c2"))
	for _, f := range facts(t, j, session("new")) {
		d, ok := f.(floodmark.ActionDecided)
		if !ok || d.Action.Call != "c2" {
			continue
		}
		for _, a := range d.Action.Arguments {
			if a.Whence == floodmark.Seen && a.Trust == floodmark.Untrusted {
				return
			}
		}
	}
	t.Error("the address of a page is not known any more once another page named that page")
}
