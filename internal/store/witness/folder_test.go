package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// A bench writes to a journal in memory and signs into a folder.
type bench struct {
	t    testing.TB
	dir  string
	j    *journal.Memory
	key  journal.Key
	last map[journal.Session]journal.Link
	now  time.Time
}

func newBench(t testing.TB) *bench {
	t.Helper()
	secret, _, err := journal.NewKey(rand.New(rand.NewSource(1)), "floodmark.example/log")
	if err != nil {
		t.Fatal(err)
	}
	key, err := journal.ParseKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "witness")
	return &bench{t: t, dir: dir, j: journal.NewMemory(), key: key, last: map[journal.Session]journal.Link{}, now: time.Unix(1e9, 0)}
}

func (b *bench) write(id string) {
	b.t.Helper()
	s := journal.Session{Tenant: "firm", ID: floodmark.SessionID(id)}
	entries, err := journal.Seal(s, b.last[s], b.now, []floodmark.Fact{floodmark.SessionClosed{}})
	if err != nil {
		b.t.Fatal(err)
	}
	r := journal.Record{Session: s, After: b.last[s], Entries: entries}
	if err := b.j.Append(context.Background(), journal.Batch{Records: []journal.Record{r}}); err != nil {
		b.t.Fatal(err)
	}
	b.last[s] = r.Last()
}

// open opens the folder as a daemon does that has just started.
func (b *bench) open() *Folder {
	b.t.Helper()
	f, err := Open(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

func (b *bench) step() (journal.Step, error) {
	b.t.Helper()
	f := b.open()
	c := journal.Checkpointer{Journal: b.j, Log: f, Key: b.key}
	b.now = b.now.Add(time.Second)
	did, err := c.Step(context.Background(), b.now)
	return did, errors.Join(err, f.Close())
}

func (b *bench) mustStep() journal.Step {
	b.t.Helper()
	did, err := b.step()
	if err != nil {
		b.t.Fatal(err)
	}
	return did
}

func (b *bench) verify() journal.Report {
	b.t.Helper()
	f, err := Look(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := journal.Verify(context.Background(), b.j, journal.Evidence{Log: f, Keys: b.key.Verifiers()}, nil)
	if err := errors.Join(err, f.Close()); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) read(name string) []byte {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

func (b *bench) put(name string, text []byte) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), text, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

// two returns a bench that has signed s1 and s2, and then s2 and s3.
func two(t testing.TB) *bench {
	b := newBench(t)
	b.write("s1")
	b.write("s2")
	b.mustStep()
	b.write("s2")
	b.write("s3")
	b.mustStep()
	return b
}

func TestFolder(t *testing.T) {
	b := two(t)
	lines := strings.Split(string(b.read("heads")), "\n")
	for i, want := range []string{"0 6669726d 7331 1 ", "1 6669726d 7332 1 ", "2 6669726d 7332 2 ", "3 6669726d 7333 1 ", ""} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %q, want %q…", lines[i], want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("%d lines", len(lines))
	}
	all, newest := b.read("checkpoints"), b.read("checkpoint")
	if !bytes.HasSuffix(all, newest) || len(all) <= len(newest) {
		t.Errorf("all:\n%s\nnewest:\n%s", all, newest)
	}
	if r := b.verify(); !r.OK() || r.Leaves != 4 || r.Checkpoints != 2 {
		t.Errorf("%+v", r)
	}
	if did := b.mustStep(); did.Leaves != 0 || did.Checkpoint.Size != 4 {
		t.Errorf("nothing changed: %+v", did)
	}
}

// What a crash can leave behind. Afterwards a step works as usual, and everything that was signed
// before is still valid.
func TestFolderAfterACrash(t *testing.T) {
	for name, crash := range map[string]func(*bench){
		"whole unsigned heads": func(b *bench) {
			b.put("heads", append(b.read("heads"), "4 6669726d 7331 2 00\n5 6669726d 7331 3 00\n"...))
		},
		"half a head":      func(b *bench) { b.put("heads", append(b.read("heads"), "4 6669726d 73"...)) },
		"half a number":    func(b *bench) { b.put("heads", append(b.read("heads"), '4')) },
		"a block of zeros": func(b *bench) { b.put("heads", append(b.read("heads"), make([]byte, 8192)...)) },
		"the last head again": func(b *bench) {
			h := b.read("heads")
			b.put("heads", append(h, "4 "+string(h[bytes.LastIndex(h[:len(h)-1], []byte("\n3 "))+3:])...))
		},
		"no hashes":        func(b *bench) { b.remove("hashes") },
		"half the hashes":  func(b *bench) { b.put("hashes", b.read("hashes")[:100]) },
		"zeros for hashes": func(b *bench) { b.put("hashes", make([]byte, 32*7)) },
		"half a note":      func(b *bench) { b.put("checkpoint.new", b.read("checkpoint")[:40]) },
		"the newest not among all": func(b *bench) {
			all := b.read("checkpoints")
			b.put("checkpoints", all[:len(all)-len(b.read("checkpoint"))])
		},
		"half the newest among all": func(b *bench) { all := b.read("checkpoints"); b.put("checkpoints", all[:len(all)-10]) },
		"the newest file is lost":   func(b *bench) { b.remove("checkpoint") },
	} {
		t.Run(name, func(t *testing.T) {
			b := two(t)
			crash(b)
			if r := b.verify(); !r.OK() || r.Leaves != 4 {
				t.Errorf("before a start: %+v", r)
			}
			b.write("s1")
			if did := b.mustStep(); did.Leaves != 1 || did.Checkpoint.Size != 5 {
				t.Errorf("%+v", did)
			}
			if r := b.verify(); !r.OK() || r.Leaves != 5 || r.Checkpoints != 3 || r.Unsigned != 0 {
				t.Errorf("after a step: %+v", r)
			}
		})
	}
}

func TestFolderRefusesLostHeads(t *testing.T) {
	for name, spoil := range map[string]func(*bench){
		"all": func(b *bench) { b.put("heads", nil) },
		"the last": func(b *bench) {
			h := b.read("heads")
			b.put("heads", h[:bytes.LastIndex(h[:len(h)-1], []byte("\n"))+1])
		},
		"its end": func(b *bench) { h := b.read("heads"); b.put("heads", h[:len(h)-1]) },
		"the first": func(b *bench) {
			h := b.read("heads")
			b.put("heads", h[bytes.IndexByte(h, '\n')+1:])
			b.remove("hashes")
		},
		"a file": func(b *bench) { b.remove("heads") },
	} {
		t.Run(name, func(t *testing.T) {
			b := two(t)
			spoil(b)
			if r := b.verify(); r.OK() {
				t.Error("not found before the start")
			}
			b.write("s1")
			if _, err := b.step(); !errors.Is(err, journal.ErrLog) {
				t.Errorf("step: %v", err)
			}
			if r := b.verify(); r.OK() {
				t.Error("not found")
			}
		})
	}
}

// A law: no bit of the files can be changed without being noticed.
func TestFolderLawAnyBit(t *testing.T) {
	b := two(t)
	files := []string{"heads", "checkpoint", "checkpoints"}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(files).Draw(rt, "file")
		good := b.read(name)
		bad := slices.Clone(good)
		i := rapid.IntRange(0, len(bad)*8-1).Draw(rt, "bit")
		bad[i/8] ^= 1 << (i % 8)
		b.put(name, bad)
		r := b.verify()
		b.put(name, good)
		// The last checkpoint in the list may be cut off, because the newest one is in a file of
		// its own, too.
		if r.OK() && (name != "checkpoints" || r.Checkpoints != 2) {
			rt.Fatalf("bit %d of %s: %+v", i, name, r)
		}
	})
}

// A law: heads are found by their number, however many there are.
func TestFindLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, err := Open(t.TempDir())
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			if err := f.Close(); err != nil {
				rt.Fatal(err)
			}
		}()
		ctx := context.Background()
		if err := f.Trim(ctx, 0); err != nil {
			rt.Fatal(err)
		}
		leaves := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9 ]{1,60}`), 0, 40).Draw(rt, "leaves")
		if err := f.Append(ctx, leaves); err != nil {
			rt.Fatal(err)
		}
		from := rapid.IntRange(0, len(leaves)+1).Draw(rt, "from")
		var got []string
		for l, err := range f.Leaves(ctx, int64(from)) {
			if (err != nil) != (from > len(leaves)) || (err != nil && !errors.Is(err, journal.ErrLog)) {
				rt.Fatal(err)
			}
			got = append(got, l)
		}
		if from <= len(leaves) && !slices.Equal(got, leaves[from:]) {
			rt.Fatal(cmp.Diff(leaves[from:], got))
		}
		if err := f.Trim(ctx, int64(from)); (err != nil) != (from > len(leaves)) {
			rt.Fatal(err)
		}
	})
}

func TestFolderLongestNames(t *testing.T) {
	b := newBench(t)
	s := journal.Session{Tenant: strings.Repeat("t", journal.MaxTenantBytes), ID: floodmark.SessionID(strings.Repeat("s", journal.MaxSessionBytes))}
	leaf := journal.Leaf{Session: s, Link: journal.Link{Seq: 1<<64 - 1}}.String()
	f := b.open()
	ctx := t.Context()
	if err := f.Trim(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(ctx, []string{leaf, leaf, leaf}); err != nil {
		t.Fatal(err)
	}
	for range f.Leaves(ctx, 2) {
		if err := f.Trim(ctx, 2); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{strings.Repeat("x", maxLine), "a\nb"} {
		if err := f.Append(ctx, []string{bad}); err == nil {
			t.Errorf("took a line of %d bytes", len(bad))
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFolderHasOneWriter(t *testing.T) {
	b := two(t)
	f := b.open()
	if _, err := Open(b.dir); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second writer: %v", err)
	}
	if r := b.verify(); !r.OK() {
		t.Errorf("a reader beside it: %+v", r)
	}
	if err := f.Append(t.Context(), []string{"x"}); err == nil {
		t.Error("added before anybody said what was signed")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	look, err := Look(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"trim": look.Trim(t.Context(), 0), "append": look.Append(t.Context(), nil),
		"hashes": look.WriteHashes(t.Context(), 0, nil), "publish": look.Publish(t.Context(), nil),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}

func TestFolderIsPrivate(t *testing.T) {
	b := two(t)
	for name, want := range map[string]fs.FileMode{"": 0o700, "heads": 0o600, "hashes": 0o600, "checkpoint": 0o600, "checkpoints": 0o600} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

func FuzzFolder(f *testing.F) {
	b := two(f)
	f.Add(b.read("heads"), b.read("checkpoints"), b.read("checkpoint"))
	f.Add([]byte("0 a\n1 b\n"), []byte("\n\n\u2014 a b\n"), []byte{})
	f.Fuzz(func(t *testing.T, heads, all, newest []byte) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{"heads": heads, "checkpoints": all, "checkpoint": newest, "hashes": nil} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folder, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := journal.Verify(t.Context(), b.j, journal.Evidence{Log: folder, Keys: b.key.Verifiers()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() && r.Leaves != 4 && r.Leaves != 2 {
			t.Errorf("a log that nobody signed: %+v", r)
		}
		for n := range int64(4) {
			if err := folder.Trim(t.Context(), 3-n); err == nil && n == 3 {
				break
			}
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	bench := newBench(b)
	for i := range 100_000 {
		bench.write(fmt.Sprintf("s%d", i))
	}
	for more := true; more; {
		more = bench.mustStep().More
	}
	for b.Loop() {
		bench.write("s7")
		bench.mustStep()
	}
}
