package pushdoor

import (
	"os"
	"path/filepath"
	"strings"
)

// evilLine is what a review shows of the file that most attempts want to hide.
const evilLine = "  + curl evil"

func evil(w *world) { w.commit("evil.sh", "curl evil\n") }

func fine(w *world) { w.commit("fine.txt", "fine\n") }

// commits commits a file.
func commits(path, text string) func(w *world) { return func(w *world) { w.commit(path, text) } }

// attributes commits a file for which the repository has attributes.
func attributes(text string) func(w *world) {
	return func(w *world) { w.write(".git/info/attributes", text); evil(w) }
}

// looksOfFiles returns attempts to hide files from the person.
func looksOfFiles() []attempt {
	return []attempt{
		{name: "nothing wrong", setup: commits("a.txt", "one\ntwo\n"), want: pushed, head: "1 file (1 new, 0 changed, 0 deleted), +2 -0 lines", body: "  + two"},
		{name: "a change", setup: commits("src/numbers.txt", strings.Replace(numbers, "10\n", "x\n", 1)), want: pushed, head: "+1 -1", body: "    9\n  - 10\n  + x\n    11"},
		{name: "gitattributes without diff", setup: func(w *world) {
			w.write(".gitattributes", "* -diff\n*.sh binary\n")
			w.commit("evil.sh", "curl evil\n")
		}, want: pushed, body: evilLine},
		{name: "attributes of the repository", setup: attributes("* -diff\n"), want: pushed, body: evilLine},
		{name: "attributes for export", setup: attributes("evil.sh export-ignore linguist-generated -text\n"), want: pushed, body: evilLine},
		{name: "textconv", setup: func(w *world) {
			w.git("config", "diff.x.textconv", w.program("conv"))
			w.write(".git/info/attributes", "* diff=x\n")
			w.commit("evil.sh", "curl evil\n")
		}, want: unseen},
		{name: "textconv of the owner's settings", setup: func(w *world) {
			w.write(filepath.Join(w.home, ".gitconfig"), "[diff \"x\"]\n\ttextconv = "+w.program("conv")+"\n[user]\n\tname = a\n\temail = a@b.example\n")
			w.write(".git/info/attributes", "* diff=x\n")
			w.commit("evil.sh", "curl evil\n")
		}, want: unseen},
		{name: "textconv from before", early: func(w *world) {
			w.git("config", "diff.x.textconv", "touch "+w.ran+"; echo fine;:")
			w.write(".git/info/attributes", "* diff=x\n")
		}, setup: commits("evil.sh", "curl evil\n"), want: pushed, body: evilLine},
		{name: "external diff from before", early: func(w *world) { w.git("config", "diff.external", "touch "+w.ran+";:") }, setup: commits("evil.sh", "curl evil\n"), want: pushed, body: evilLine},
		{name: "a filter from before", early: func(w *world) {
			w.git("config", "filter.x.smudge", "touch "+w.ran+"; echo fine;:")
			w.write(".git/info/attributes", "*.sh filter=x\n")
		}, setup: commits("evil.sh", "curl evil\n"), want: pushed, body: evilLine},
		{name: "fsmonitor from before", early: func(w *world) { w.git("config", "core.fsmonitor", "false") }, setup: commits("evil.sh", "curl evil\n"), want: pushed, body: evilLine},
		{name: "a file that is no text", setup: commits("a.bin", strings.Repeat("\x00\x01\x02\xff", 500)), want: pushed, head: "NOT SHOWN: 1 file that is no text"},
		{name: "one odd byte", setup: commits("evil.sh", "curl evil\n\x00# a comment that is long enough to be text\n"), want: pushed, body: evilLine},
		{name: "another mode", setup: func(w *world) { w.must(os.Chmod(filepath.Join(w.app, "run.sh"), 0o755)); w.all("mode") }, want: pushed, head: "1 mode that changes", body: "mode 100644 becomes 100755"},
		{name: "a new program", setup: func(w *world) {
			w.write("x.sh", "curl evil\n")
			w.must(os.Chmod(filepath.Join(w.app, "x.sh"), 0o755))
			w.all("x")
		}, want: pushed, body: "(new, a program, +1 -0)"},
		{name: "a link", setup: func(w *world) { w.must(os.Symlink("/etc/passwd", filepath.Join(w.app, "x"))); w.all("x") }, want: pushed, head: "1 link", body: "  + /etc/passwd"},
		{name: "a file becomes a link", setup: func(w *world) {
			w.must(os.Remove(filepath.Join(w.app, "run.sh")))
			w.must(os.Symlink("../evil", filepath.Join(w.app, "run.sh")))
			w.all("x")
		}, want: pushed, head: "1 link", body: "mode 100644 becomes 120000"},
		{name: "a file becomes a folder", setup: func(w *world) {
			w.must(os.Remove(filepath.Join(w.app, "run.sh")))
			w.commit("run.sh/evil", "curl evil\n")
		}, want: pushed, body: evilLine},
		{name: "a new submodule", setup: func(w *world) {
			w.git("update-index", "--add", "--cacheinfo", "160000,"+w.git("rev-parse", "HEAD")+",lib")
			w.git("commit", "-q", "-m", "lib")
		}, want: pushed, head: "NOT SHOWN: 1 submodule", body: "file «lib» (new, a submodule)"},
	}
}

// looksOfText returns attempts to hide text from the person.
func looksOfText() []attempt {
	return []attempt{
		{name: "another version of a submodule", early: func(w *world) {
			w.git("update-index", "--add", "--cacheinfo", "160000,"+w.git("rev-parse", "HEAD")+",lib")
			w.git("commit", "-q", "-m", "lib")
			w.git("push", "-q", w.origin, "main")
		}, setup: func(w *world) {
			w.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",lib")
			w.git("commit", "-q", "-m", "lib")
		}, want: pushed, head: "1 submodule", body: "to " + strings.Repeat("ab", 20)},
		{name: "more lines than anybody reads", setup: commits("a.txt", strings.Repeat("filler\n", 9000)+"curl evil\n"), want: pushed, head: "lines beyond the room there is", body: "more changed lines of this file are not shown"},
		{name: "many files before the one that matters", setup: func(w *world) {
			for _, c := range "abcdefgh" {
				w.write("a"+string(c)+".txt", strings.Repeat("filler\n", 900))
			}
			w.commit("z.sh", "curl evil\n")
		}, want: pushed, head: "NOT SHOWN", body: "file «z.sh» (new, +1 -0)"},
		{name: "a file that is too large", setup: commits("a.txt", strings.Repeat("filler filler filler\n", 60000)), want: pushed, head: "NOT SHOWN: 1 file that is too large"},
		{name: "bidirectional text", setup: commits("a.go", "if admin \u202e { // \u2066 fine\n"), want: pushed, body: "⟨U+202E⟩"},
		{name: "bidirectional name", setup: commits("a\u202etxt.sh", "curl evil\n"), want: pushed, body: "«a⟨U+202E⟩txt.sh»"},
		{name: "zero width", setup: commits("a.go", "ad\u200bmin\n"), want: pushed, body: "ad⟨U+200B⟩min"},
		{name: "carriage return", setup: commits("a.sh", "curl evil\r# fine      \n"), want: pushed, body: "curl evil⟨U+000D⟩# fine"},
		{name: "escape sequences", setup: commits("a.sh", "curl evil \x1b[1A\x1b[2K\n"), want: pushed, body: "⟨U+001B⟩[1A"},
		{name: "spaces push it out of sight", setup: commits("a.sh", "echo"+strings.Repeat(" ", 300)+";curl evil\n"), want: pushed, body: "echo⟨300 spaces⟩;curl evil"},
		{name: "a long line", setup: commits("a.js", strings.Repeat("x", 5000)+"\n"), want: pushed, head: "NOT SHOWN: 1 long line, which is cut", body: "letters …⟩"},
		{name: "a name with a newline", setup: commits("a\nfile «fine» (+0 -0)", "curl evil\n"), want: pushed, body: "«a⏎file <fine> (+0 -0)»", never: "\nfile «fine»"},
		{name: "text that looks like ours", setup: commits("a.txt", "x\nfile «fine» (+0 -0)\ncommit 123\n"), want: pushed, never: "\nfile «fine»", body: "  + file «fine»"},
		{name: "a message that looks like ours", setup: func(w *world) { w.write("b", "b\n"); w.all("x\n\nfile «fine»\n\x1b[2J") }, want: pushed, never: "\nfile «fine»", body: "  | ⟨U+001B⟩[2J"},
		{name: "an author that looks like ours", setup: func(w *world) {
			w.write("b", "b\n")
			w.git("add", "-A")
			w.git("commit", "-q", "-m", "x", "--author", "Ada\u202e <ada@example.org>")
		}, want: pushed, body: "author Ada⟨U+202E⟩"},
		{name: "names that differ in case", setup: func(w *world) { w.write("Makefile", "a:\n"); w.commit("makefile", "b:\n") }, want: pushed, head: "(!) another file is called the same"},
		{name: "no newline at the end", setup: commits("README.md", "hello"), want: pushed, body: "  - hello\n  + hello\n  (no newline at its end)"},
		{name: "only a newline at the end", setup: commits("README.md", "hello\n\n"), want: pushed, body: "  + \n"[:4]},
		{name: "a file is deleted", setup: func(w *world) { w.git("rm", "-q", "run.sh"); w.git("commit", "-q", "-m", "x") }, want: pushed, head: "1 deleted", body: "  - echo hi"},
		{name: "a file is renamed", setup: func(w *world) { w.git("mv", "run.sh", "go.sh"); w.git("commit", "-q", "-m", "x") }, want: pushed, head: "1 new, 0 changed, 1 deleted", body: "  + echo hi"},
		{name: "an empty commit", setup: func(w *world) { w.all("nothing in it") }, want: pushed, body: "  | nothing in it"},
	}
}
