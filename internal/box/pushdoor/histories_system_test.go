package pushdoor

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// raw commits a tree with arbitrary bytes.
func raw(entries ...string) func(w *world) {
	return func(w *world) {
		blob := w.in(w.app, "curl evil\n", "hash-object", "-w", "--stdin")
		id, err := hex.DecodeString(blob)
		w.must(err)
		text := ""
		for _, e := range entries {
			text += e + "\x00" + string(id)
		}
		tree := w.in(w.app, text, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
		w.git("reset", "-q", "--soft", w.git("commit-tree", tree, "-p", "HEAD", "-m", "x"))
	}
}

// object sets the branch to a commit with arbitrary bytes.
func object(w *world, head string) {
	id := w.in(w.app, head, "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	w.write(".git/refs/heads/main", id+"\n")
}

// historiesInOrder returns attempts with objects and their order.
func historiesInOrder() []attempt {
	return []attempt{
		{name: "added and taken away again", setup: func(w *world) {
			w.commit("key.txt", "SECRET-KEY\n")
			w.git("rm", "-q", "key.txt")
			w.git("commit", "-q", "-m", "tidy")
		}, want: pushed, head: "1 file that is only in between", body: "  + SECRET-KEY"},
		{name: "changed and changed back", setup: func(w *world) {
			w.commit("README.md", "SECRET-KEY\n")
			w.commit("README.md", "hello\n")
		}, want: pushed, head: "only in between", body: "  + SECRET-KEY"},
		{name: "a merge that adds something", setup: func(w *world) {
			w.git("checkout", "-q", "-b", "side")
			w.commit("side.txt", "side\n")
			w.git("checkout", "-q", "main")
			w.commit("main.txt", "main\n")
			w.git("merge", "-q", "--no-commit", "--no-ff", "side")
			evil(w)
		}, want: pushed, body: evilLine},
		{name: "a commit is replaced", setup: func(w *world) {
			fine := w.commit("fine.txt", "fine\n")
			w.git("reset", "-q", "--hard", "HEAD~")
			evil(w)
			w.git("replace", "HEAD", fine)
		}, want: pushed, body: evilLine},
		{name: "a file is replaced", setup: func(w *world) {
			evil(w)
			w.git("replace", w.git("rev-parse", "HEAD:evil.sh"), w.git("rev-parse", "HEAD:run.sh"))
		}, want: pushed, body: evilLine},
		{name: "a tree is replaced", setup: func(w *world) {
			evil(w)
			w.git("replace", w.git("rev-parse", "HEAD^{tree}"), w.git("rev-parse", "HEAD~^{tree}"))
		}, want: pushed, body: evilLine},
		{name: "a graft", setup: func(w *world) {
			base := w.git("rev-parse", "HEAD")
			evil(w)
			w.write(".git/info/grafts", w.commit("fine.txt", "fine\n")+" "+base+"\n")
		}, want: pushed, body: evilLine},
		{name: "a shallow history", setup: func(w *world) {
			evil(w)
			w.write(".git/shallow", w.commit("fine.txt", "fine\n")+"\n")
		}, want: pushed, body: evilLine},
		{name: "a graph of commits that is garbage", setup: func(w *world) { evil(w); w.write(".git/objects/info/commit-graph", "CGPH garbage") }, want: pushed, body: evilLine},
	}
}

// historiesForged returns attempts with forged objects.
func historiesForged() []attempt {
	return []attempt{
		{name: "a graph of commits that hides one", setup: func(w *world) {
			base := w.git("rev-parse", "HEAD")
			evil(w)
			w.commit("fine.txt", "fine\n")
			w.git("commit-graph", "write", "--reachable")
			at := filepath.Join(w.app, ".git/objects/info/commit-graph")
			graph, err := os.ReadFile(at)
			w.must(err)
			from, err1 := hex.DecodeString(w.git("rev-parse", "HEAD~"))
			to, err2 := hex.DecodeString(base)
			if w.must(err1); err2 == nil {
				w.must(os.Chmod(at, 0o600))
				w.must(os.WriteFile(at, []byte(strings.ReplaceAll(string(graph), string(from), string(to))), 0o600))
			}
		}, want: pushed, body: evilLine},
		{name: "the remote's branch as the project has it is moved", setup: func(w *world) {
			evil(w)
			w.git("update-ref", "refs/remotes/origin/main", "HEAD")
			w.commit("fine.txt", "fine\n")
		}, want: pushed, body: evilLine},
		{name: "borrowed objects", setup: func(w *world) {
			blob := w.in(w.evil, "SECRET-KEY\n", "hash-object", "-w", "--stdin")
			w.old["evil.git blob "+blob] = "SECRET-KEY"
			w.write(".git/objects/info/alternates", w.evil+"/objects\n")
			w.git("update-index", "--add", "--cacheinfo", "100644,"+blob+",x")
			w.git("commit", "-q", "-m", "x")
		}, want: pushed, body: "  + SECRET-KEY"},
		{name: "an old file that is not what its name says", setup: func(w *world) {
			forge(w, w.git("rev-parse", "HEAD:run.sh"), "blob", "echo hi\ncurl evil\n")
			w.commit("run.sh", "echo hi\ncurl evil\n")
		}, want: refused},
		{name: "a new file that is not what its name says", setup: func(w *world) {
			evil(w)
			forge(w, w.git("rev-parse", "HEAD:evil.sh"), "blob", "fine\n")
		}, want: refused},
		{name: "a new tree that is not what its name says", setup: func(w *world) {
			old := w.in(w.app, "", "cat-file", "tree", "HEAD^{tree}")
			evil(w)
			forge(w, w.git("rev-parse", "HEAD^{tree}"), "tree", old)
		}, want: refused},
		{name: "a commit that is not what its name says", setup: func(w *world) {
			base := w.git("rev-parse", "HEAD")
			tree := w.git("rev-parse", "HEAD^{tree}")
			evil(w)
			forge(w, w.git("rev-parse", "HEAD"), "commit", "tree "+tree+"\nparent "+base+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nfine\n")
		}, want: refused},
	}
}

// historiesMalformed returns attempts with malformed objects.
func historiesMalformed() []attempt {
	return []attempt{
		{name: "what the remote has is not what its name says", setup: func(w *world) {
			base, tree := w.git("rev-parse", "HEAD"), w.git("rev-parse", "HEAD^{tree}")
			evil(w)
			hidden := w.git("rev-parse", "HEAD")
			w.commit("fine.txt", "fine\n")
			forge(w, base, "commit", "tree "+tree+"\nparent "+hidden+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nfine\n")
		}, want: refused},
		{name: "a repository inside of the tree", setup: raw("100644 .git", "100644 a"), want: refused},
		{name: "a repository by another name", setup: raw("100644 .GIT"), want: refused},
		{name: "a repository by a short name", setup: raw("100644 git~1"), want: refused},
		{name: "a name twice", setup: raw("100644 a", "100755 a"), want: refused},
		{name: "names out of order", setup: raw("100644 b", "100644 a"), want: refused},
		{name: "a name that leads out", setup: raw("100644 ../a"), want: refused},
		{name: "a name with a folder in it", setup: raw("100644 a/b"), want: refused},
		{name: "a mode that nothing has", setup: raw("100777 a"), want: refused},
		{name: "a commit with two trees", setup: func(w *world) {
			evil(w)
			t, p := w.git("rev-parse", "HEAD^{tree}"), w.git("rev-parse", "HEAD~")
			object(w, fmt.Sprintf("tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\ntree %s\n\nx\n", w.git("rev-parse", "HEAD~^{tree}"), p, t))
		}, want: refused},
		{name: "a commit with more in its head", setup: func(w *world) {
			evil(w)
			object(w, fmt.Sprintf("tree %s\nparent %s\nauthor A <a@b.example> 1 +0000\ncommitter A <a@b.example> 1 +0000\nnote SECRET-KEY\n\nx\n", w.git("rev-parse", "HEAD^{tree}"), w.git("rev-parse", "HEAD~")))
		}, want: pushed, body: "  | note SECRET-KEY"},
		{name: "a message that ends early", setup: func(w *world) {
			evil(w)
			object(w, fmt.Sprintf("tree %s\nparent %s\nauthor A <a@b.example> 1 +0000\ncommitter A <a@b.example> 1 +0000\n\nfine\x00SECRET-KEY\n", w.git("rev-parse", "HEAD^{tree}"), w.git("rev-parse", "HEAD~")))
		}, want: pushed, body: "fine⟨U+0000⟩SECRET-KEY"},
		{name: "more commits than anybody reads", setup: func(w *world) {
			text := ""
			for i := range 501 {
				text += fmt.Sprintf("commit refs/heads/main\ncommitter A <a@b.example> %d +0000\ndata 1\nx\n", 1767400000+i)
				if i == 0 {
					text += "from " + w.git("rev-parse", "HEAD") + "\n"
				}
			}
			w.in(w.app, text, "fast-import", "--quiet")
		}, want: unseen},
		{name: "another history", setup: func(w *world) {
			w.git("checkout", "-q", "--orphan", "x")
			evil(w)
			w.git("branch", "-q", "-M", "x", "main")
		}, want: refused},
		{name: "files that git looks at by name", early: func(w *world) {
			w.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = https://git.example/lib\n")
			w.write(".gitattributes", "*.txt text\n")
			w.all("names")
			w.git("push", "-q", w.origin, "main")
		}, setup: evil, want: pushed, body: evilLine},
		{name: "packed objects", setup: func(w *world) { evil(w); w.git("repack", "-q", "-a", "-d"); w.git("pack-refs", "--all") }, want: pushed, body: evilLine},
	}
}

// forge stores other content under the id of an object.
func forge(w *world, id, kind, content string) {
	w.Helper()
	other := w.in(w.app, content, "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	at := func(id string) string { return filepath.Join(w.app, ".git/objects", id[:2], id[2:]) }
	data, err := os.ReadFile(at(other))
	w.must(err)
	w.must(os.Remove(at(id)))
	w.must(os.WriteFile(at(id), data, 0o400))
}
