package boxgit

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A desk is a repository and the layer in which a command wrote above it.
type desk struct {
	t                    *testing.T
	git, upper, worktree string
	changes              []Change
}

type files map[string]string // by name: the mode and the id

func (d *desk) write(root, name string, data []byte) {
	d.t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(at, data, 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// put makes a file of git's folder. With before, it existed before the command; otherwise the
// command wrote it.
func (d *desk) put(before bool, name, text string) {
	d.t.Helper()
	if before {
		d.write(d.git, name, []byte(text))
		return
	}
	d.write(d.upper, name, []byte(text))
	if slices.ContainsFunc(d.changes, func(c Change) bool { return c.Path == name }) {
		return
	}
	d.changes = append(d.changes, Change{Path: name, From: filepath.Join(d.upper, name)})
}

func packedText(text string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func (d *desk) object(before bool, kind, text string) string {
	d.t.Helper()
	text = fmt.Sprintf("%s %d\x00%s", kind, len(text), text)
	sum := sha1.Sum([]byte(text))
	id := hex.EncodeToString(sum[:])
	d.put(before, "objects/"+id[:2]+"/"+id[2:], packedText(text))
	return id
}

// commit makes a commit of files that are not in folders.
func (d *desk) commit(before bool, f files, parents ...string) string {
	d.t.Helper()
	var tree, head strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f)) {
		mode, text, _ := strings.Cut(f[name], " ")
		raw, _ := hex.DecodeString(d.object(before, "blob", text))
		tree.WriteString(mode + " " + name + "\x00" + string(raw))
	}
	fmt.Fprintf(&head, "tree %s\n", d.object(before, "tree", tree.String()))
	for _, p := range parents {
		fmt.Fprintf(&head, "parent %s\n", p)
	}
	head.WriteString("author a <a@b.example> 1 +0000\ncommitter a <a@b.example> 1 +0000\n\nx\n")
	return d.object(before, "commit", head.String())
}

func indexOf(f files, flags uint16) string {
	var b bytes.Buffer
	b.WriteString("DIRC")
	_ = binary.Write(&b, binary.BigEndian, []uint32{2, uint32(len(f))})
	for _, name := range slices.Sorted(maps.Keys(f)) {
		mode, text, _ := strings.Cut(f[name], " ")
		var m uint32
		_, _ = fmt.Sscanf(mode, "%o", &m)
		raw, _ := hex.DecodeString(Blob([]byte(text)))
		_ = binary.Write(&b, binary.BigEndian, []uint32{0, 0, 0, 0, 0, 0, m, 0, 0, uint32(len(text))})
		b.Write(raw)
		_ = binary.Write(&b, binary.BigEndian, flags|uint16(len(name)))
		b.WriteString(name + strings.Repeat("\x00", 8-(62+len(name))%8))
	}
	sum := sha1.Sum(b.Bytes())
	return b.String() + string(sum[:])
}

const tagged = "1111111111111111111111111111111111111111"

func base() files { return files{"AGENTS.md": "100644 be good", "a.txt": "100644 a"} }

func newDesk(t *testing.T) (d *desk, first string) {
	t.Helper()
	root := t.TempDir()
	d = &desk{t: t, git: filepath.Join(root, "p/.git"), upper: filepath.Join(root, "upper"), worktree: filepath.Join(root, "p")}
	first = d.commit(true, base())
	d.write(d.upper, "x", nil)
	d.put(true, "HEAD", "ref: refs/heads/main\n")
	d.put(true, "refs/heads/main", first+"\n")
	d.put(true, "refs/remotes/origin/main", first+"\n")
	d.put(true, "packed-refs", "# pack-refs with: peeled \n"+first+" refs/heads/old\n"+first+" refs/tags/v1\n^"+first+"\n")
	d.put(true, "index", indexOf(base(), 0))
	d.write(d.worktree, "AGENTS.md", []byte("be good"))
	return d, first
}

func (d *desk) check() map[string]string {
	r := Repository{
		Git: d.git, Folder: filepath.Join(d.upper, "look"), Guards: func(p string) bool { return p == "AGENTS.md" || p == ".hook" },
		Lies: func(p, _, _ string) bool { return p != "elsewhere.txt" },
		Has: func(p, mode, id string) bool {
			data, err := os.ReadFile(filepath.Join(d.worktree, p))
			if err != nil {
				return mode == ""
			}
			return mode == "100644" && Blob(data) == id
		},
	}
	said := map[string]string{}
	for i, why := range r.Check(d.changes) {
		if why != "" {
			said[d.changes[i].Path] = why
		}
	}
	if exists(r.Folder) {
		d.t.Error("what was made to look is left")
	}
	return said
}

func with(name, file string) files {
	f := base()
	f[name] = file
	return f
}

// A try is what a command did, and which changes are not kept; all others are.
type try struct {
	name string
	do   func(*desk, string)
	not  []string
}

// commits returns tries with commits.
func commits() []try {
	commit := func(f files) func(*desk, string) {
		return func(d *desk, first string) {
			d.put(false, "refs/heads/main", d.commit(false, f, first)+"\n")
			d.put(false, "logs/HEAD", "x\n")
			d.put(false, "COMMIT_EDITMSG", "x\n")
		}
	}
	return []try{
		{"a commit", commit(with("b.txt", "100644 b")), nil},
		{"a commit of instructions", commit(with("AGENTS.md", "100644 evil")), []string{"refs/heads/main", "logs/HEAD", "COMMIT_EDITMSG"}},
		{"a commit that removes instructions", commit(files{"a.txt": "100644 a"}), []string{"refs/heads/main", "logs/HEAD", "COMMIT_EDITMSG"}},
		{"a commit of a link", commit(with("l", "120000 /etc/passwd")), []string{"refs/heads/main", "logs/HEAD", "COMMIT_EDITMSG"}},
		{"a commit of what the project has", func(d *desk, first string) {
			d.write(d.worktree, "AGENTS.md", []byte("be better"))
			d.put(false, "refs/heads/main", d.commit(false, with("AGENTS.md", "100644 be better"), first)+"\n")
			d.put(false, "index", indexOf(with("AGENTS.md", "100644 be better"), 0))
		}, nil},
		{"instructions in a commit that is undone", func(d *desk, first string) {
			between := d.commit(false, with("AGENTS.md", "100644 evil"), first)
			d.put(false, "refs/heads/main", d.commit(false, with("c.txt", "100644 c"), between)+"\n")
		}, []string{"refs/heads/main"}},
		{"instructions by a merge", func(d *desk, first string) {
			side := d.commit(false, with("c.txt", "100644 c"), first)
			other := d.commit(false, with("d.txt", "100644 d"), first)
			d.put(false, "refs/heads/main", d.commit(false, with("AGENTS.md", "100644 evil"), side, other)+"\n")
		}, []string{"refs/heads/main"}},
		{"a merge", func(d *desk, first string) {
			side := d.commit(false, with("c.txt", "100644 c"), first)
			f := with("c.txt", "100644 c")
			f["d.txt"] = "100644 d"
			other := d.commit(false, with("d.txt", "100644 d"), first)
			d.put(false, "refs/heads/main", d.commit(false, f, side, other)+"\n")
		}, nil},
		{"instructions by a commit that was there", func(d *desk, _ string) {
			there := d.commit(true, with("AGENTS.md", "100644 evil"))
			d.put(true, "refs/remotes/origin/evil", there+"\n")
			d.put(false, "refs/heads/main", there+"\n")
		}, []string{"refs/heads/main"}},
	}
}

// others returns tries with the stash, the index and objects.
func others() []try {
	return []try{
		{"instructions by the stash", func(d *desk, first string) {
			old := d.commit(false, with("AGENTS.md", "100644 evil"), first)
			d.put(false, "refs/stash", d.commit(false, with("c.txt", "100644 c"), first)+"\n")
			d.put(false, "logs/refs/stash", tagged+" "+old+" a <b> 1 +0000\tx\n")
		}, []string{"refs/stash", "logs/refs/stash"}},
		{"instructions by the index", func(d *desk, _ string) { d.put(false, "index", indexOf(with("AGENTS.md", "100644 evil"), 0)) }, []string{"index"}},
		{"instructions that leave the index", func(d *desk, _ string) { d.put(false, "index", indexOf(files{"a.txt": "100644 a"}, 0)) }, []string{"index"}},
		{"an index that hides changes", func(d *desk, _ string) { d.put(false, "index", indexOf(base(), 0x8000)) }, []string{"index"}},
		{"an index", func(d *desk, _ string) { d.put(false, "index", indexOf(with("b.txt", "100644 b"), 0)) }, nil},
		{"an object that replaces another", func(d *desk, first string) {
			d.put(false, "objects/"+first[:2]+"/"+first[2:], packedText("commit 4\x00evil"))
			d.put(false, "refs/heads/new", first+"\n")
		}, []string{"OBJECT", "refs/heads/new"}},
		{"an object that is not there", func(d *desk, _ string) { d.put(false, "refs/heads/new", tagged+"\n") }, []string{"refs/heads/new"}},
	}
}

// names returns tries with names of files.
func names() []try {
	return []try{
		{"names that are not branches", func(d *desk, first string) {
			d.put(false, "refs/heads/new", first+"\n")
			d.put(false, "refs/tags/new", first+"\n")
			for _, name := range []string{"refs/replace/" + first, "refs/remotes/origin/main", "shallow", "info/grafts", "objects/info/alternates", "objects/info/commit-graph", "config", "refs/heads/x.lock", "main", "logs/refs/remotes/x"} {
				d.put(false, name, first+"\n")
			}
		}, []string{"refs/replace/ID", "refs/remotes/origin/main", "shallow", "info/grafts", "objects/info/alternates", "objects/info/commit-graph", "config", "refs/heads/x.lock", "main", "logs/refs/remotes/x"}},
		{"a tag that moves", func(d *desk, first string) {
			d.put(false, "refs/tags/v1", d.commit(false, with("c.txt", "100644 c"), first)+"\n")
		}, []string{"refs/tags/v1"}},
		{"a packed name that is no branch", func(d *desk, first string) {
			d.put(false, "packed-refs", first+" refs/heads/old\n"+first+" refs/tags/v1\n^"+tagged+"\n")
		}, []string{"packed-refs"}},
		{"a packed branch that is gone", func(d *desk, first string) { d.put(false, "packed-refs", first+" refs/tags/v1\n^"+first+"\n") }, nil},
		{"a packed tag that is gone", func(d *desk, first string) { d.put(false, "packed-refs", first+" refs/heads/old\n") }, []string{"packed-refs"}},
		{"a rebase under way", func(d *desk, first string) {
			d.put(false, "rebase-merge/git-rebase-todo", "pick x\n")
			d.put(false, "HEAD", first+"\n")
		}, []string{"rebase-merge/git-rebase-todo", "HEAD"}},
		{"a rebase that ends", func(d *desk, first string) {
			d.put(false, "HEAD", "ref: refs/heads/main\n")
			d.changes = append(d.changes, Change{Path: "rebase-merge", Is: Gone}, Change{Path: "BISECT_LOG", Is: Gone})
		}, nil},
		{"a step of a rebase that is gone", func(d *desk, first string) {
			d.put(false, "HEAD", first+"\n")
			d.changes = append(d.changes, Change{Path: "rebase-merge/git-rebase-todo", Is: Gone})
		}, []string{"HEAD", "rebase-merge/git-rebase-todo"}},
		{"a commit on a branch that is not checked out", func(d *desk, first string) {
			d.put(false, "refs/heads/new", d.commit(false, with("elsewhere.txt", "100644 c"), first)+"\n")
		}, []string{"refs/heads/new"}},
		{"a pack", func(d *desk, first string) {
			d.put(false, "objects/pack/pack-x.pack", "x")
			d.put(false, "refs/heads/new", first+"\n")
		}, []string{"objects/pack/pack-x.pack", "refs/heads/new"}},
		{"a HEAD that leads elsewhere", func(d *desk, _ string) { d.put(false, "HEAD", "ref: refs/remotes/origin/main\n") }, []string{"HEAD"}},
		{"a merge under way", func(d *desk, first string) {
			d.put(false, "MERGE_HEAD", d.commit(false, with("c.txt", "100644 c"), first)+"\n")
			d.put(false, "MERGE_MSG", "x")
		}, nil},
		{"what is gone", func(d *desk, _ string) {
			d.changes = append(d.changes, Change{Path: "objects/aa", Is: Gone}, Change{Path: "refs/remotes", Is: Gone}, Change{Path: "refs", Is: AFreshFolder}, Change{Path: "logs/HEAD", Is: Gone})
		}, []string{"objects/aa", "refs/remotes", "refs", "logs/HEAD"}},
		{"a branch that is gone", func(d *desk, _ string) {
			d.changes = append(d.changes, Change{Path: "refs/heads/main", Is: Gone})
		}, nil},
	}
}

// notes returns tries with HEAD's log.
func notes() []try {
	return []try{
		{"notes of HEAD that grow", func(d *desk, first string) {
			d.put(true, "logs/HEAD", "a clone\n")
			d.put(false, "logs/HEAD", "a clone\na commit\n")
			d.put(false, "refs/heads/new", first+"\n")
		}, nil},
		{"notes of HEAD that are rewritten", func(d *desk, first string) {
			d.put(true, "logs/HEAD", "a clone\n")
			d.put(false, "logs/HEAD", "a commit\n")
			d.put(false, "refs/heads/new", first+"\n")
		}, []string{"logs/HEAD", "refs/heads/new"}},
		{"notes of HEAD that are gone", func(d *desk, first string) {
			d.put(true, "logs/HEAD", "a clone\n")
			d.changes = append(d.changes, Change{Path: "logs", Is: Gone})
			d.put(false, "refs/heads/new", first+"\n")
		}, []string{"logs", "refs/heads/new"}},
		{"notes of HEAD of which the last goes on", func(d *desk, first string) {
			d.put(true, "logs/HEAD", "a b\tcheckout: x")
			d.put(false, "logs/HEAD", "a b\tcheckout: x\nb c\tcommit: y\n")
			d.put(false, "refs/heads/new", first+"\n")
		}, []string{"logs/HEAD", "refs/heads/new"}},
	}
}

// A box's lines in HEAD's log are marked, with any text, and earlier lines are not.
func TestNotesOfABoxAreMarked(t *testing.T) {
	d, first := newDesk(t)
	was := "0 " + first + " a <b> 1 +0000\tcommit (initial): x\n"
	d.put(true, "logs/HEAD", was)
	d.put(false, "logs/HEAD", was+"a b\tcommit: x\nb c\tmerge x: Merge made by y\nc d\tclone: from z\nd e\n\tcommit: \tf\ng h\tcommit: no end")
	const want = "a b\tin a box: commit: x\nb c\tin a box: merge x: Merge made by y\nc d\tclone: from z\nd e\n\tin a box: commit: \tf\ng h\tin a box: commit: no end"
	for range 2 { // after a box was killed, its changes are checked once more
		if why := d.check(); len(why) > 0 {
			t.Fatal(why)
		}
		if got, err := os.ReadFile(filepath.Join(d.upper, "logs", "HEAD")); err != nil || string(got) != was+want {
			t.Errorf("%q %v", got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	if Find() == "" {
		t.Skip("there is no git")
	}
	for _, c := range slices.Concat(commits(), others(), names(), notes()) {
		d, first := newDesk(t)
		c.do(d, first)
		var got []string
		for name := range d.check() {
			name = strings.Replace(name, "refs/replace/"+first, "refs/replace/ID", 1)
			got = append(got, strings.Replace(name, "objects/"+first[:2]+"/"+first[2:], "OBJECT", 1))
		}
		slices.Sort(got)
		slices.Sort(c.not)
		if !slices.Equal(got, c.not) {
			t.Errorf("%s: %q is not kept, want %q: %v", c.name, got, c.not, d.check())
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(packedText("blob 1\x00a")))
	f.Fuzz(func(t *testing.T, data []byte) {
		at := filepath.Join(t.TempDir(), "o")
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := verify(at, tagged, 1<<20); err == nil {
			t.Error("an object has a name that is not its own")
		}
	})
}
