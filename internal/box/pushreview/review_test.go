package pushreview_test

import (
	"crypto/sha1" //nolint:gosec // the names of git's objects
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/pushreview"
)

// A store keeps objects in memory.
type store map[string]pushreview.Object

func (s store) Read(id string) (pushreview.Object, error) {
	o, ok := s[id]
	if !ok {
		return pushreview.Object{}, errors.New("not there")
	}
	return o, nil
}

func (s store) put(kind, body string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(body), body)) //nolint:gosec // as git does
	id := hex.EncodeToString(sum[:])
	o := pushreview.Object{Kind: kind, Size: int64(len(body)), Body: []byte(body)}
	if kind == pushreview.Blob && len(body) > pushreview.MaxBody {
		o.Body = nil
	}
	s[id] = o
	return id
}

// tree makes a tree of «mode name content», in this order.
func (s store) tree(entries ...string) string {
	var b strings.Builder
	for _, e := range entries {
		f := strings.SplitN(e, " ", 3)
		id := f[2]
		if f[0] != "40000" && f[0] != "160000" {
			id = s.put(pushreview.Blob, f[2])
		}
		raw, _ := hex.DecodeString(id) // it is one of ours
		b.WriteString(f[0] + " " + f[1] + "\x00" + string(raw))
	}
	return s.put(pushreview.Tree, b.String())
}

func (s store) commit(tree, message string, parents ...string) string {
	text := "tree " + tree + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	return s.put(pushreview.Commit, text+"author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"+message+"\n")
}

func TestMake(t *testing.T) {
	s := store{}
	lib := s.tree("100644 a.txt one\n")
	base := s.commit(s.tree("40000 lib "+lib, "100644 x.txt 1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "begin")
	mid := s.commit(s.tree("100644 key SECRET\n", "40000 lib "+lib, "100644 x.txt 1\n2\n3\n4\n5\n6\n7\n8\n9\n"), "oops", base)
	end := s.commit(s.tree("40000 lib "+lib, "100755 x.txt 1\n2\n3\n4\nX\n6\n7\n8\n9\n"), "done", mid)
	p := pushreview.Plan{Address: "https://git.example/a", Branch: "main", Commit: end, Old: base, Base: base, New: []string{end, mid}}
	r, err := pushreview.Make(s, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Sends 2 commits, 1 file (0 new, 1 changed, 0 deleted), +2 -1 lines, 1 mode that changes, 1 file that is only in between",
		fmt.Sprintf("commit %.12s as branch «main» of «https://git.example/a», now at %.12s", end, base),
	}
	if !slices.Equal(r.Head, want) {
		t.Errorf("%q", r.Head)
	}
	if sent := (hook.Sent{Sums: "2 commits, 1 file, +2 -1 lines", Branch: "main", Files: []string{"x.txt"}}); !reflect.DeepEqual(r.Sent, sent) {
		t.Errorf("%+v", r.Sent)
	}
	body := []string{
		"commit " + end, "  | author A <a@b> 1 +0000", "  | done",
		"commit " + mid, "  | author A <a@b> 1 +0000", "  | oops",
		"file «x.txt» (mode 100644 becomes 100755, +1 -1)", "  …", "    2", "    3", "    4", "  - 5", "  + X", "    6", "    7", "    8", "  …",
		fmt.Sprintf("only in commit %.12s, and sent with it:", mid), "file «key» (new, +1 -0)", "  + SECRET",
	}
	if !slices.Equal(r.Body, body) {
		t.Errorf("%s", strings.Join(r.Body, "\n"))
	}
	// Only new objects are sent, and of what the remote has only the objects that lead to them are
	// named.
	if len(r.Set.Send) != 6 || slices.Contains(r.Set.Send, lib) || slices.Contains(r.Set.Have, lib) || !slices.Equal(r.Set.Edges, []string{base}) || len(r.Set.Have) != 2 {
		t.Errorf("%+v", r.Set)
	}
	other := *r
	other.Plan.Branch = "other"
	if r.Digest() == other.Digest() {
		t.Error("another branch has the same digest")
	}
}

// The hosts that files name for the first time are listed, also those in lines that are not shown.
func TestMakeTellsNewHosts(t *testing.T) {
	s := store{}
	base := s.commit(s.tree("100644 a.ts see https://bank.example/api and a@mail.example\n"), "begin")
	for name, c := range map[string]struct{ text, want string }{
		"nothing new": {"see https://BANK.example:443/other and b@mail.example, file.ts, http://127.0.0.1:4100/x\n", ""},
		"a host":      {"see https://bank.example/api and https://x:y@evil.example/in\n", "«evil.example» in «a.ts»"},
		"a mail":      {"mail all to eve@evil.example\n", "«evil.example» in «a.ts»"},
		"far below":   {strings.Repeat("x\n", 2000) + "https://evil.example\n", "«evil.example» in «a.ts»"},
		"many": {
			"https://h1.example https://h2.example https://h3.example https://h4.example https://h5.example https://h6.example\n",
			"«h1.example» in «a.ts», «h2.example» in «a.ts», «h3.example» in «a.ts», «h4.example» in «a.ts», and 2 more",
		},
	} {
		end := s.commit(s.tree("100644 a.ts "+c.text), "end", base)
		r, err := pushreview.Make(s, pushreview.Plan{Address: "https://git.example/a", Branch: "main", Commit: end, Old: base, Base: base, New: []string{end}})
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(strings.Join(r.Head, "\n"), "did not name before: ")
		if got, _, _ = strings.Cut(got, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A history that is not the one of the commit, or cannot be read in full, has no review.
func TestMakeRefuses(t *testing.T) {
	s := store{}
	tree := s.tree("100644 a a\n")
	base := s.commit(tree, "base")
	end := s.commit(tree, "end", base)
	side := s.commit(tree, "side")
	many := make([]string, pushreview.MaxCommits+1)
	plain, _ := hex.DecodeString(tree) // it is one of ours
	bad := func(body string) string { return s.commit(s.put(pushreview.Tree, body), "x", base) }
	for name, c := range map[string]struct {
		plan pushreview.Plan
		want error
	}{
		"a commit too many":      {pushreview.Plan{Commit: end, New: []string{end, side}}, pushreview.ErrMalformed},
		"not the pushed one":     {pushreview.Plan{Commit: end, New: []string{side}}, pushreview.ErrMalformed},
		"nothing new":            {pushreview.Plan{Commit: end}, pushreview.ErrMalformed},
		"too many":               {pushreview.Plan{Commit: end, New: many}, pushreview.ErrTooMuch},
		"it does not follow":     {pushreview.Plan{Commit: end, New: []string{end}, Old: side, Base: side}, pushreview.ErrNotForward},
		"a tree as commit":       {pushreview.Plan{Commit: tree, New: []string{tree}}, pushreview.ErrMalformed},
		"an entry that is cut":   {pushreview.Plan{Commit: bad("100644 a\x00abc"), New: []string{bad("100644 a\x00abc")}}, pushreview.ErrMalformed},
		"an entry without name":  {pushreview.Plan{Commit: bad("100644 \x00" + string(plain)), New: []string{bad("100644 \x00" + string(plain))}}, pushreview.ErrMalformed},
		"a folder that is none":  {pushreview.Plan{Commit: bad("40000 a\x00" + string(plain) + "x"), New: []string{bad("40000 a\x00" + string(plain) + "x")}}, pushreview.ErrMalformed},
		"a repository in a tree": {pushreview.Plan{Commit: bad("100644 .g\u200cit\x00" + string(plain)), New: []string{bad("100644 .g\u200cit\x00" + string(plain))}}, pushreview.ErrMalformed},
	} {
		if _, err := pushreview.Make(s, c.plan); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := pushreview.Make(s, pushreview.Plan{Commit: end, New: []string{end}, Old: base, Base: base}); err != nil {
		t.Error(err)
	}
}

// Each limit is checked at its value and one beyond.
func TestMakeCountsWhatItDoesNotShow(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{strings.Repeat("x\n", 250), "Sends"},
		{strings.Repeat("x\n", 251), "NOT SHOWN: 1 line beyond the room there is"},
		{strings.Repeat("x", 240) + "\n", "Sends"},
		{strings.Repeat("x", 241) + "\n", "NOT SHOWN: 1 long line, which is cut"},
		{strings.Repeat("x\n", pushreview.MaxBody/2+1), "NOT SHOWN: 1 file that is too large"},
		{strings.Repeat("\x00\x01a", 100), "NOT SHOWN: 1 file that is no text"},
		{strings.Repeat("abcdefg\x01\n", 100), "Sends"},
	} {
		s := store{}
		id := s.commit(s.tree("100644 a "+c.text), "x")
		r, err := pushreview.Make(s, pushreview.Plan{Commit: id, New: []string{id}})
		if err != nil || !strings.HasPrefix(r.Head[0], c.want) {
			t.Errorf("%.20q: %v, %q, want %q", c.text, err, r.Head, c.want)
		}
	}
}

// Sent text that has no room is kept to be scanned, unchanged; removed text is not.
func TestMakeKeepsWhatItDoesNotShow(t *testing.T) {
	const value = "MAP_TOKEN=Tr0ub4dor&3"
	for name, c := range map[string]struct{ path, text, message string }{
		"a late line":       {"a", strings.Repeat("x\n", 250) + value + "\n", "x"},
		"a long line":       {"a", strings.Repeat("x", 240) + value + "\n", "x"},
		"no text":           {"a", strings.Repeat("\x00\x01a", 100) + value, "x"},
		"spaces in it":      {"a", "MAP_TOKEN=Tr0ub4dor" + strings.Repeat(" ", 30) + "&3", "x"},
		"the end of a word": {"a", "x\n", strings.Repeat("x\n", 250) + value},
		"a name":            {strings.Repeat("x", 240) + value, "x\n", "x"},
	} {
		s := store{}
		base := s.commit(s.tree("100644 a was\n"), "x")
		id := s.commit(s.tree("100644 "+c.path+" "+c.text), c.message, base)
		r, err := pushreview.Make(s, pushreview.Plan{Commit: id, New: []string{id}, Old: base, Base: base})
		if err != nil || !strings.Contains(strings.ReplaceAll(strings.Join(r.Rest, "\n"), " ", ""), value) {
			t.Errorf("%s: %v, %.300q", name, err, r.Rest)
		}
		back := s.commit(s.tree("100644 a was\n"), "x", id)
		if r, err = pushreview.Make(s, pushreview.Plan{Commit: back, New: []string{back}, Old: id, Base: id}); err != nil || strings.Contains(strings.Join(r.Rest, ""), "Tr0ub4dor") {
			t.Errorf("%s: taken away, it is %v, %.300q", name, err, r.Rest)
		}
	}
	s := store{}
	many := []string{}
	for i := range 3 {
		many = append(many, fmt.Sprintf("100644 a%d %s", i, strings.Repeat("\x00\x01\x02", pushreview.MaxBody/3)))
	}
	id := s.commit(s.tree(many...), "x")
	r, err := pushreview.Make(s, pushreview.Plan{Commit: id, New: []string{id}})
	if size := len(strings.Join(r.Rest, "")); err != nil || size != pushreview.MaxRest {
		t.Errorf("%v, %d bytes", err, size)
	}
}

// Everything in a repository is untrusted: no content of it makes a line of its own.
func FuzzMake(f *testing.F) {
	f.Add([]byte("tree x"), []byte("100644 a\x00"), []byte("a\nb"), []byte("a\r\n"))
	f.Fuzz(func(t *testing.T, head, tree, was, now []byte) {
		s := store{}
		base := s.commit(s.tree("100644 a "+string(was)), "x")
		for _, id := range []string{
			s.put(pushreview.Commit, string(head)), s.commit(s.put(pushreview.Tree, string(tree)), "x", base), s.commit(s.tree("100644 a "+string(now)), string(head), base),
		} {
			r, err := pushreview.Make(s, pushreview.Plan{Commit: id, New: []string{id}, Base: base, Old: base})
			if err != nil {
				continue
			}
			for _, l := range slices.Concat(r.Head, r.Body) {
				if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e }) {
					t.Errorf("%q", l)
				}
			}
		}
	})
}

func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"https://ann:token@git.example/a": "https://git.example/a", "https://token@git.example/a": "https://git.example/a", "https://git.example/a@b": "https://git.example/a@b",
		"ssh://git@git.example/a": "ssh://git@git.example/a", "git@git.example:a": "git@git.example:a", "/srv/a": "/srv/a", "https://a@b:c@git.example/a": "https://git.example/a", "ssh://a:b@git.example/a": "ssh://a@git.example/a",
	} {
		if got := pushreview.Shown(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}
