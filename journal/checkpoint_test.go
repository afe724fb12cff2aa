package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/floodmark/floodmark"
)

func TestCheckpointForm(t *testing.T) {
	b := newBench(t)
	b.write("s1", 2)
	did := b.step()
	if did.Leaves != 1 || did.More || did.Checkpoint.Size != 1 {
		t.Fatalf("step = %+v", did)
	}
	leaf := "6669726d 7331 2 " + b.last[named("s1")].Hash.String()
	if got := b.log.leaves[0]; got != leaf {
		t.Errorf("leaf %q, want %q", got, leaf)
	}
	want := "floodmark.example/log\n1\n" + tlog.RecordHash([]byte(leaf)).String() + "\ntime 2026-11-15T12:03:02Z\nstore laptop\nmark 1\n"
	text, sig, _ := strings.Cut(string(b.log.notes[0]), "\n\n")
	if diff := cmp.Diff(want, text+"\n"); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(sig, "\u2014 floodmark.example/log ") {
		t.Errorf("signature line %q", sig)
	}
	c, err := OpenCheckpoint(b.key.Verifiers(), b.log.notes[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(did.Checkpoint, c); diff != "" {
		t.Error(diff)
	}
}

func TestCheckpointRefuses(t *testing.T) {
	b := newBench(t)
	b.write("s1", 1)
	b.step()
	good, _, _ := strings.Cut(string(b.log.notes[0]), "\n\n")
	good += "\n"
	root := strings.Split(good, "\n")[2]
	for name, text := range map[string]string{
		"another origin":     strings.Replace(good, "floodmark.example/log", "news.example/log", 1),
		"no number":          strings.Replace(good, "\n1\n", "\none\n", 1),
		"padded number":      strings.Replace(good, "\n1\n", "\n01\n", 1),
		"negative number":    strings.Replace(good, "\n1\n", "\n-1\n", 1),
		"too large a number": strings.Replace(good, "\n1\n", "\n9223372036854775807\n", 1),
		"short root":         strings.Replace(good, root, "AAAA", 1),
		"unknown line":       good + "colour red\n",
		"a line twice":       good + "mark 1\n",
		"no time":            strings.Replace(good, "time 2026-11-15T12:03:02Z\n", "", 1),
		"a time zone":        strings.Replace(good, "12:03:02Z", "12:03:02+00:00", 1),
		"too few lines":      "floodmark.example/log\n1\n",
		"a tombstone":        Tombstone{Session: named("s1"), Link: Link{Seq: 1}, Why: "owner"}.text(),
	} {
		if _, err := OpenCheckpoint(b.key.Verifiers(), resign(t, b.key, text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	if _, err := OpenCheckpoint(testKey(t, 2).Verifiers(), b.log.notes[0]); !errors.Is(err, ErrForged) {
		t.Errorf("another key: %v", err)
	}
	if _, err := OpenCheckpoint(nil, b.log.notes[0]); !errors.Is(err, ErrForged) {
		t.Errorf("no key: %v", err)
	}
	twice := append([]byte{}, b.log.notes[0]...)
	twice = append(twice, "\u2014 news.example/log AAAAAAAAAA==\n"...)
	if _, err := OpenCheckpoint(b.key.Verifiers(), twice); !errors.Is(err, ErrForged) {
		t.Errorf("a signature put there later: %v", err)
	}
}

func TestCheckpointStoreNameLimit(t *testing.T) {
	key := testKey(t, 1)
	if _, err := (Checkpoint{Store: strings.Repeat("x", MaxStoreBytes), At: time.Unix(1, 0)}).Sign(key.Signer); err != nil {
		t.Error(err)
	}
	for _, store := range []string{strings.Repeat("x", MaxStoreBytes+1), "a\nb", "\xff"} {
		if _, err := (Checkpoint{Store: store, At: time.Unix(1, 0)}).Sign(key.Signer); err == nil {
			t.Errorf("signed store %q", store)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, name := range []string{"", "two words", "a+b", "line\nbreak"} {
		if _, _, err := NewKey(strings.NewReader(strings.Repeat("x", 64)), name); err == nil {
			t.Errorf("made a key named %q", name)
		}
	}
	for _, secret := range []string{"", "PRIVATE+KEY+a+b+c", "sesame"} {
		if _, err := ParseKey(secret); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("ParseKey(%q): %v", secret, err)
		}
	}
	// Seeds hold every byte, so their base64 has plus signs now and then.
	for seed := range int64(200) {
		testKey(t, seed)
	}
}

func TestStepCostsWhatChanged(t *testing.T) {
	b := newBench(t)
	for i := range 3000 {
		b.write(fmt.Sprintf("s%d", i), 1)
	}
	b.step()
	if did := b.step(); did.Leaves != 0 || did.Checkpoint.Size != 3000 || len(b.log.notes) != 1 {
		t.Fatalf("nothing changed, step = %+v, %d notes", did, len(b.log.notes))
	}
	b.log.reads = 0
	b.write("s7", 1)
	b.write("s8", 1)
	b.write("s7", 1)
	if did := b.step(); did.Leaves != 2 || did.Checkpoint.Size != 3002 {
		t.Fatalf("two sessions changed, step = %+v", did)
	}
	if b.log.reads > 100 {
		t.Errorf("a small step read %d hashes", b.log.reads)
	}
	if r := b.verify(); !r.OK() || r.Leaves != 3002 || r.Checkpoints != 2 || r.Entries != 3003 || r.Sessions != 3000 {
		t.Errorf("report %+v", r)
	}
}

func TestStepIsBounded(t *testing.T) {
	b := newBench(t)
	for i := range MaxStepHeads + 1 {
		b.write(fmt.Sprintf("s%d", i), 1)
	}
	if did := b.step(); did.Leaves != MaxStepHeads || !did.More {
		t.Errorf("first step: %d leaves, more %v", did.Leaves, did.More)
	}
	if did := b.step(); did.Leaves != 1 || did.More {
		t.Errorf("second step: %d leaves, more %v", did.Leaves, did.More)
	}
}

// A batch may give several sessions one mark. The next call starts after that mark, and must not
// miss any of them.
func TestHeadsOfOneMarkStayTogether(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{"s1", "s2", "s3", "s4"} {
		b.write(id, 1)
	}
	for _, id := range []string{"s2", "s3"} {
		b.j.sessions[named(id)].mark = 2
	}
	heads, more, err := headsAfter(t.Context(), b.j, 0, 2)
	if err != nil || len(heads) != 3 || !more {
		t.Errorf("%d heads, more %v, %v", len(heads), more, err)
	}
}

func TestStepRefusesALogThatIsNotItsOwn(t *testing.T) {
	for name, spoil := range map[string]func(*bench, *Checkpointer){
		"a leaf was changed": func(b *bench, _ *Checkpointer) {
			b.log.leaves[0] = strings.Replace(b.log.leaves[0], " 1 ", " 2 ", 1)
			b.log.hashes = nil
		},
		"leaves are gone": func(b *bench, _ *Checkpointer) { b.log.leaves = b.log.leaves[:1] },
		"notes are gone": func(b *bench, _ *Checkpointer) {
			b.step()
			b.write("s1", 1)
			b.step()
			b.log.notes = b.log.notes[:1]
		},
		"another key signed": func(b *bench, c *Checkpointer) { c.Key = testKey(b.t, 2) },
		"another store":      func(_ *bench, c *Checkpointer) { c.Store = "server" },
		"the note was cut":   func(b *bench, _ *Checkpointer) { b.log.notes[0] = b.log.notes[0][:50] },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("s1", 1)
			b.write("s2", 1)
			b.step()
			b.write("s1", 1)
			c := b.checkpointer()
			spoil(b, c)
			if _, err := c.Step(t.Context(), b.now); !errors.Is(err, ErrLog) {
				t.Errorf("step: %v", err)
			}
			if len(b.log.notes) != 1 {
				t.Error("signed over the damage")
			}
		})
	}
}

func TestLostHashesAreMadeAgain(t *testing.T) {
	b := newBench(t)
	for i := range 10 {
		b.write(fmt.Sprintf("s%d", i), 1)
	}
	b.step()
	want := b.log.hashes
	for _, left := range [][]tlog.Hash{nil, make([]tlog.Hash, len(want))} {
		b.log.hashes = left
		b.step()
		if diff := cmp.Diff(want, b.log.hashes); diff != "" {
			t.Error(diff)
		}
	}
	b.write("s1", 1)
	b.step()
	if r := b.verify(); !r.OK() {
		t.Errorf("%+v", r.Findings)
	}
}

// A law: a crash at any write of any step loses nothing. The next step continues, and its
// checkpoint never contradicts an earlier one.
func TestStepLawCrashAnywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			for range rapid.IntRange(0, 5).Draw(rt, "writes") {
				b.write(fmt.Sprintf("s%d", rapid.IntRange(1, 4).Draw(rt, "session")), 1)
			}
			b.log.writes, b.log.crash = 0, rapid.IntRange(0, 3).Draw(rt, "crash")
			_, err := b.checkpointer().Step(t.Context(), b.now)
			if err != nil && !errors.Is(err, errCrash) {
				rt.Fatal(err)
			}
		}
		b.log.crash = 0
		b.step()
		r := b.verify()
		if !r.OK() || r.Unsigned != 0 {
			rt.Fatalf("%+v", r)
		}
		root, err := tlog.TreeHash(int64(len(b.log.leaves)), b.log)
		var edge tree
		for _, l := range b.log.leaves {
			edge.add(l)
		}
		if err != nil || edge.root() != root {
			rt.Fatalf("two ways to one root differ: %v", err)
		}
	})
}

func TestLeafLawOneForm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := Leaf{
			Session: Session{
				Tenant: string(rapid.SliceOfN(rapid.Byte(), 0, MaxTenantBytes).Draw(rt, "tenant")),
				ID:     floodmark.SessionID(rapid.SliceOfN(rapid.Byte(), 1, MaxSessionBytes).Draw(rt, "id")),
			},
			Link: Link{Seq: rapid.Uint64Min(1).Draw(rt, "seq"), Hash: Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "hash"))},
		}
		got, err := ParseLeaf(l.String())
		if err != nil || got != l {
			rt.Fatalf("%v, %v", got, err)
		}
	})
}

func TestLeafRefuses(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for _, line := range []string{
		"", "- 7331 1", "- 7331 1 " + hash + " ", " 7331 1 " + hash, "-  1 " + hash, "- 7331 0 " + hash,
		"- 7331 01 " + hash, "- 7331 +1 " + hash, "- 733 1 " + hash, "- 7331 1 " + hash[2:], "zz 7331 1 " + hash,
		"- 7331 1 " + strings.ToUpper(hash), "- 7A 1 " + hash, "- 7331 18446744073709551616 " + hash,
		"- " + strings.Repeat("61", MaxSessionBytes+1) + " 1 " + hash, strings.Repeat("61", MaxTenantBytes+1) + " 7331 1 " + hash,
	} {
		if l, err := ParseLeaf(line); err == nil {
			t.Errorf("read %q as %v", line, l)
		}
	}
}

func FuzzParseLeaf(f *testing.F) {
	f.Add("- 7331 1 " + strings.Repeat("ab", 32))
	f.Add("6669726d 7331 9 " + strings.Repeat("00", 32))
	f.Fuzz(func(t *testing.T, line string) {
		if l, err := ParseLeaf(line); err == nil && l.String() != line {
			t.Errorf("%q reads as %q", line, l)
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	key := testKey(f, 1)
	c := Checkpoint{Size: 3, At: time.Unix(5, 0), Store: "laptop", Mark: 7}
	signed, err := c.Sign(key.Signer)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed, "floodmark.example/log\n3\n"+tlog.Hash{}.String()+"\ntime 1970-01-01T00:00:05Z\nmark 7\n")
	f.Fuzz(func(t *testing.T, note []byte, text string) {
		if got, err := OpenCheckpoint(key.Verifiers(), note); err == nil && string(note) != string(signed) {
			t.Errorf("nobody signed %+v", got)
		}
		if got, err := parseCheckpoint(text); err == nil && got.text() != text {
			t.Errorf("%q reads as %q", text, got.text())
		}
	})
}
