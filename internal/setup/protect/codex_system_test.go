package protect

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeCodex puts a program called codex on PATH.
func (b *bench) fakeCodex(script string) {
	b.t.Helper()
	path := filepath.Join(b.env["PATH"], "codex")
	b.write(path, "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o700); err != nil {
		b.t.Fatal(err)
	}
	b.env["PATH"] += ":/bin:/usr/bin"
}

func TestCodexOnPath(t *testing.T) {
	t.Parallel()
	t.Run("believed", codexIsBelieved)
	t.Run("no answer", codexThatDoesNotAnswer)
}

// If Codex does not answer, or not what we expect, we do not wait longer. The person is told what
// to do, and the hashes that we computed are written.
func codexThatDoesNotAnswer(t *testing.T) {
	for name, script := range map[string]string{
		"hangs":         `case $1 in --version) echo codex-cli 0.200.0;; *) sleep 660 & sleep 660;; esac`,
		"ends":          `exit 1`,
		"speaks wrong":  `case $1 in --version) ;; *) echo '{"id":2,"result":[]}'; cat >/dev/null;; esac`,
		"knows no hook": `case $1 in --version) ;; *) echo '{"id":2,"result":{"data":[{"hooks":[]}]}}'; cat >/dev/null;; esac`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.have("codex")
			b.fakeCodex(script)
			within := time.Minute
			if name == "hangs" || name == "speaks wrong" { // we wait for Codex until the time is over
				within = 4 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			p, err := b.Protect(ctx, "codex")
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "Start codex once") {
				t.Errorf("the person is told %q", p.Notes)
			}
			b.apply(p)
			if !strings.Contains(b.read(b.have("codex")[1].path), "trusted_hash") {
				t.Error("no hash was written")
			}
		})
	}
}

// The hashes that Codex reports are used even if they differ from those that we compute, and status
// accepts them afterwards.
func codexIsBelieved(t *testing.T) {
	b := newBench(t)
	files := b.have("codex")
	list := ""
	hooks, err := files[0].with(content{})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := codexHooks(hooks.data)
	if err != nil || len(ours) == 0 {
		t.Fatal(ours, err)
	}
	for i, one := range ours {
		if i > 0 {
			list += ","
		}
		list += `{"key":"/x/hooks.json:` + one.Place + `","currentHash":"sha256:theirs","command":"/x/floodmark-hook codex Stop"}`
	}
	b.fakeCodex(`case $1 in --version) echo 1.2.3;; *) echo '{"id":2,"result":{"data":[{"hooks":[` + list + `]}]}}'; cat >/dev/null;; esac`)
	p := b.protect("codex")
	b.apply(p)
	if config := b.read(files[1].path); len(p.Notes) > 0 || strings.Count(config, `trusted_hash = "sha256:theirs"`) != len(ours) {
		t.Errorf("%v: %s", p.Notes, config)
	}
	if b.state("codex") != Protected {
		t.Error("not protected")
	}
	// A hook that was switched off in Codex is off.
	config := b.read(files[1].path)
	b.write(files[1].path, strings.Replace(config, "trusted_hash", "enabled = false\ntrusted_hash", 1))
	if b.state("codex") != Changed {
		t.Error("a hook that is switched off is not noticed")
	}
	b.apply(b.protect("codex"))
	if b.state("codex") != Protected {
		t.Error("it was not switched on again")
	}
	// A hook whose place changed is off, too, because Codex trusts a hook at its place.
	b.write(files[0].path, strings.Replace(b.read(files[0].path), `"PreToolUse": [`, `"PreToolUse": [ {"hooks": []},`, 1))
	if b.state("codex") != Changed {
		t.Error("a hook at another place is not noticed")
	}
}
