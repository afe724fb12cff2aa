package catalog

import "testing"

// A guarded path is found in every spelling that some file system accepts.
func TestSpellingsOfGuardedPaths(t *testing.T) {
	c := shipped(t)
	for path, want := range map[string]PathKind{
		".claude/\u017fettings.json":             SelfProtected,
		"AGENT\u017f.md":                         Instructs,
		"\u017fkill.md":                          Instructs,
		".git/con\ufb01g":                        Instructs,
		".clau\u200bde/settings.json":            SelfProtected,
		".claude/settings\u2060.json":            SelfProtected,
		".claude/settings.json\x00":              SelfProtected,
		".claude/settings.json::$DATA":           SelfProtected,
		".claude/settings.json.":                 SelfProtected,
		".claude/settings.json ":                 SelfProtected,
		".claude./settings.json":                 SelfProtected,
		".claude /settings.json":                 SelfProtected,
		`.claude\settings.json`:                  SelfProtected,
		`/home/u/a\b/../.bashrc`:                 Instructs,
		"/private/etc/crontab":                   Instructs,
		"/var/home/ann/.bashrc":                  Instructs,
		"/Volumes/Macintosh HD/Users/ann/.zshrc": Instructs,
		"/System/Volumes/Data/Users/ann/.zshrc":  Instructs,
		"/mnt/c/Users/ann/.bashrc":               Instructs,
		"/c/Users/ann/.bashrc":                   Instructs,
		`\\?\C:\Users\ann\.bashrc`:               Instructs,
		"/proc/self/root/home/ann/.bashrc":       Instructs,
		"file://.claude/settings.json":           SelfProtected,
		"notes.":                                 InProject,
		"a:b.txt":                                InProject,
		"stra\u00dfe.txt":                        InProject,
		"/mnt/c/Users/ann/notes.txt":             Elsewhere,
		"/home/u/work/app/sub/home/notes.txt":    InProject,
	} {
		u := c.Classify(builtin("pi", "write"), args("path", path, "content", "x"), nil, here())
		if u.PathKind != want {
			t.Errorf("%q: %v, want %v", path, u.PathKind, want)
		}
	}
	for _, path := range []string{"/proc/1/root/home/ann/.ssh/id_rsa", "/private/var/root/.ssh/id_rsa", "/host/root/.ssh/x", "file:///home/u/.env?x"} {
		if u := c.Classify(builtin("openclaw", "read"), args("path", path), nil, here()); u.PathKind != Secret {
			t.Errorf("%s: %v", path, u.PathKind)
		}
	}
	// Headers of patches are found behind blanks and in quotes.
	for _, patch := range []string{
		"*** Begin Patch\n*** Add File: a.txt\n+x\n *** Add File: AGENTS.md\n+evil\n*** End Patch",
		"--- a/x\n\t+++ b/AGENTS.md\n", "--- a/x\n+++ \"b/AGENTS\\056md\"\n",
	} {
		if u := c.Classify(builtin("codex", "apply_patch"), args("input", patch), nil, here()); !u.Instructs {
			t.Errorf("%q: %v", patch, u.Effects)
		}
	}
}

// A path is folded as the most forgiving file system would read it.
func TestFoldPath(t *testing.T) {
	for in, want := range map[string]string{
		"/A/b": "/a/b", "/a./B": "/a/b", "/a /B": "/a/b", "/a.": "/a", "/a ": "/a", "/a...": "/a", "/a:b": "/a", "/a/b:c/d": "/a/b/d",
		"c:/A": "c:/a", "/:a": "/:a", "/:ab": "/:ab", "/c:": "/c:", "/cc:": "/cc", "/...": "/...", "/. .": "/. .", "/a\x1fb": "/ab", "/a\x7fb": "/ab", "/a\u00e9B": "/a\u00e9b",
		"/\u00c9": "/\u00e9", "/a~": "/a~", "/a b": "/a b", "/.a": "/.a", "/a\x1f/..": "/", "/~\x01": "/~",
		"/\u00df\u1e9e": "/ssss", "/\ufb00\ufb01\ufb02": "/fffifl", "/\ufb03\ufb04": "/ffiffl", "/\ufb05\ufb06": "/stst", "/\u0130\u0131\u017f": "/iis",
	} {
		if got := foldPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A mount point is not part of the path in the mounted system.
func TestMounted(t *testing.T) {
	for path, want := range map[string]int{
		"": 0, "etc": 0, "~": 0, "private": 1, "private/etc": 1, "host/x": 1, "rootfs": 1, "?/c:": 1, "var/home/x": 1, "var/lib": 0, "export/home": 1,
		"usr/home": 1, "c:/users": 1, "c/users": 1, "cc:/users": 0, "cc/x": 0,
		"volumes": 0, "volumes/x/y": 2, "mnt/c/x": 2, "mnt/c:": 2, "mnt/cc": 0, "mnt": 0, "mnt/wsl/x": 2, "mnt/~": 0, "cygdrive/c": 2,
		"system/volumes/data/x": 3, "system/volumes": 0, "system/x/data": 0, "proc/1/root": 3, "proc/1/cwd": 0, "proc/1": 0,
	} {
		if got := mounted(splitPath(path, nil)); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
