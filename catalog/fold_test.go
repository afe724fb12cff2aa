package catalog

import "testing"

// A guarded path is found in every spelling some file system takes for it.
func TestSpellingsOfGuardedPaths(t *testing.T) {
	c := shipped(t)
	for path, want := range map[string]PathKind{
		".claude/\u017fettings.json":             SelfProtected,
		"AGENT\u017f.md":                         Instructs,
		"ma\u212aefile":                          Instructs,
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
