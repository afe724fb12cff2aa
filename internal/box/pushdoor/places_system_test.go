package pushdoor

import (
	"os"
	"path/filepath"
	"strings"
)

// configured commits something and adds settings.
func configured(text string) func(w *world) {
	return func(w *world) {
		fine(w)
		w.add(".git/config", strings.NewReplacer("EVIL", w.evil, "ORIGIN", w.origin, "RAN", w.ran).Replace(text))
	}
}

// placesBySettings returns attempts to change where a push goes, by settings.
func placesBySettings() []attempt {
	return []attempt{
		{name: "pushurl", setup: configured("[remote \"origin\"]\n\tpushurl = EVIL\n"), want: unseen},
		{name: "pushurl from before", early: func(w *world) { w.url = w.evil; w.git("config", "remote.origin.pushurl", w.origin) }, setup: fine, want: pushed},
		{name: "a second address", setup: configured("[remote \"origin\"]\n\turl = EVIL\n"), want: unseen},
		{name: "insteadOf", setup: configured("[url \"EVIL\"]\n\tinsteadOf = ORIGIN\n"), want: unseen},
		{name: "insteadOf from before", early: func(w *world) { w.git("config", "url."+w.evil+".insteadOf", w.origin) }, setup: fine, want: unseen},
		{name: "pushInsteadOf", setup: configured("[url \"EVIL\"]\n\tpushInsteadOf = ORIGIN\n"), want: unseen},
		{name: "insteadOf of the owner, new", setup: func(w *world) {
			fine(w)
			w.write(filepath.Join(w.home, ".gitconfig"), "[url \""+w.evil+"\"]\n\tinsteadOf = "+w.origin+"\n")
		}, want: unseen},
		{name: "included settings", setup: func(w *world) {
			fine(w)
			w.write("x.inc", "[remote \"origin\"]\n\tpushurl = "+w.evil+"\n")
			w.add(".git/config", "[include]\n\tpath = ../x.inc\n")
		}, want: unseen},
		{name: "settings that are included on a branch", setup: func(w *world) {
			fine(w)
			w.write("x.inc", "[url \""+w.evil+"\"]\n\tinsteadOf = "+w.origin+"\n")
			w.add(".git/config", "[includeIf \"onbranch:main\"]\n\tpath = ../x.inc\n")
		}, want: unseen},
		{name: "sshCommand", setup: configured("[core]\n\tsshCommand = touch RAN;:\n"), want: unseen},
		{name: "sshCommand from before", early: func(w *world) { w.git("config", "core.sshCommand", "touch "+w.ran+";:") }, setup: fine, want: pushed},
		{name: "gitProxy", setup: configured("[core]\n\tgitProxy = touch RAN;:\n"), want: unseen},
		{name: "a credential helper", setup: configured("[credential]\n\thelper = !touch RAN\n"), want: unseen},
		{name: "a credential helper from before", early: func(w *world) { w.git("config", "credential.helper", "!touch "+w.ran) }, setup: fine, want: pushed},
		{name: "askpass from before", early: func(w *world) { w.git("config", "core.askPass", w.program("ask")) }, setup: fine, want: pushed},
		{name: "push.default", setup: configured("[push]\n\tdefault = matching\n"), want: unseen},
		{name: "followTags", setup: func(w *world) {
			fine(w)
			w.git("tag", "-a", "v1", "-m", "SECRET-KEY")
			w.add(".git/config", "[push]\n\tfollowTags = true\n")
		}, want: unseen},
		{name: "followTags from before", early: func(w *world) { w.git("config", "push.followTags", "true") }, setup: func(w *world) { fine(w); w.git("tag", "-a", "v1", "-m", "SECRET-KEY") }, want: pushed, never: "SECRET"},
		{name: "followTags of the owner", early: func(w *world) { w.git("config", "--global", "push.followTags", "true") }, setup: func(w *world) { fine(w); w.git("tag", "-a", "v1", "-m", "SECRET-KEY") }, want: pushed, never: "SECRET"},
		{name: "remote.push", setup: configured("[remote \"origin\"]\n\tpush = refs/heads/*:refs/heads/*\n"), want: unseen},
		{name: "remote.mirror", setup: configured("[remote \"origin\"]\n\tmirror = true\n"), want: unseen},
		{name: "remote.receivepack from before", early: func(w *world) { w.git("config", "remote.origin.receivepack", w.program("receive")) }, setup: fine, want: pushed},
		{name: "pushOption from before", early: func(w *world) { w.git("config", "push.pushOption", "SECRET") }, setup: fine, want: pushed},
		{name: "pushRemote", setup: configured("[remote \"evil\"]\n\turl = EVIL\n[branch \"main\"]\n\tpushRemote = evil\n"), want: unseen},
		{name: "a section by its old spelling", early: func(w *world) { w.add(".git/config", "[remote.origin]\n\tpushurl = "+w.evil+"\n") }, setup: fine, want: unseen},
		{name: "a hook", setup: func(w *world) { fine(w); w.program(".git/hooks/pre-push") }, want: pushed, head: "pre-push does not run"},
		{name: "other hooks", setup: func(w *world) {
			fine(w)
			for _, h := range []string{"reference-transaction", "pre-receive", "update", "post-update", "post-receive"} {
				w.program(".git/hooks/" + h)
			}
		}, want: pushed},
		{name: "hooksPath", setup: func(w *world) { fine(w); w.program("h/pre-push"); w.git("config", "core.hooksPath", "h") }, want: unseen},
	}
}

// placesByPrograms returns attempts to run programs during a push.
func placesByPrograms() []attempt {
	return []attempt{
		{name: "hooks of the remote", setup: func(w *world) {
			fine(w)
			for _, h := range []string{"pre-receive", "update", "post-receive", "reference-transaction", "post-update", "push-to-checkout", "proc-receive"} {
				at := filepath.Join(w.origin, "hooks", h)
				w.write(at, "#!/bin/sh\ntouch "+w.ran+"\n")
				w.must(os.Chmod(at, 0o700))
			}
		}, want: pushed},
		{name: "settings of the remote name programs", setup: func(w *world) {
			fine(w)
			w.in(w.origin, "", "config", "core.fsmonitor", "touch "+w.ran+";:")
			w.in(w.origin, "", "config", "core.hooksPath", w.app)
			w.in(w.origin, "", "config", "core.alternateRefsCommand", "touch "+w.ran+";:")
			w.write(filepath.Join(w.origin, "objects/info/alternates"), w.evil+"/objects\n")
		}, want: pushed},
		{name: "a filter of the remote, whose files a push changes", early: func(w *world) {
			w.url = filepath.Join(w.home, "work")
			w.in(w.home, "", "clone", "-q", w.origin, w.url)
			w.in(w.url, "", "config", "receive.denyCurrentBranch", "updateInstead")
			w.in(w.url, "", "config", "filter.x.smudge", "touch "+w.ran+"; cat")
		}, setup: func(w *world) { w.write(".gitattributes", "* filter=x\n"); fine(w) }, want: failed},
		{name: "git's folder is another", setup: func(w *world) {
			fine(w)
			w.must(os.Rename(filepath.Join(w.app, ".git"), filepath.Join(w.home, "moved.git")))
			w.write(".git", "gitdir: "+filepath.Join(w.home, "moved.git")+"\n")
		}, want: unseen},
		{name: "git's folder is a link", setup: func(w *world) {
			fine(w)
			w.must(os.Rename(filepath.Join(w.app, ".git"), filepath.Join(w.home, "moved.git")))
			w.must(os.Symlink(filepath.Join(w.home, "moved.git"), filepath.Join(w.app, ".git")))
		}, want: unseen},
		{name: "git's common folder is another", setup: func(w *world) {
			fine(w)
			w.must(os.CopyFS(filepath.Join(w.home, "copy.git"), os.DirFS(filepath.Join(w.app, ".git"))))
			w.write(".git/commondir", filepath.Join(w.home, "copy.git")+"\n")
		}, want: unseen},
		{name: "objects are a link", setup: func(w *world) {
			fine(w)
			w.must(os.Rename(filepath.Join(w.app, ".git/objects"), filepath.Join(w.home, "objects")))
			w.must(os.Symlink(filepath.Join(w.home, "objects"), filepath.Join(w.app, ".git/objects")))
		}, want: refused},
		{name: "settings of the work tree", setup: func(w *world) {
			fine(w)
			w.git("config", "extensions.worktreeConfig", "true")
			w.write(".git/config.worktree", "[remote \"origin\"]\n\tpushurl = "+w.evil+"\n")
		}, want: unseen},
		{name: "an address that runs something", early: func(w *world) { w.url = "ext::sh -c touch% " + w.ran }, setup: fine, want: unseen},
		{name: "an address that is an option", early: func(w *world) { w.url = "--upload-pack=touch" }, setup: fine, want: unseen},
		{name: "no remote there", early: func(w *world) { w.url = filepath.Join(w.home, "gone.git") }, setup: fine, want: unseen},
	}
}
