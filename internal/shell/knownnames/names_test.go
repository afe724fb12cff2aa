package knownnames_test

import (
	"testing"

	"github.com/floodmark/floodmark/internal/shell/knownnames"
)

// A name is known only as a whole, with the kinds it is listed for.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		is       func(string) bool
		yes, not []string
	}{
		"interprets": {knownnames.Interprets, []string{"sh", "python3.12", "Invoke-Expression"}, []string{"", "ls", "s", "sh\ninterprets bash"}},
		"writes":     {knownnames.WritesFiles, []string{"tee", "7z", "mkdir", "curl"}, []string{"", "cat", "#"}},
		"brings":     {knownnames.Brings, []string{"curl", "certutil"}, []string{"", "tee", "cur"}},
		"by option":  {knownnames.RunsByOption, []string{"tar", "sh"}, []string{"", "ls"}},
		"unseen":     {knownnames.StartsUnseen, []string{"su", "pkexec"}, []string{"", "sudo"}},
		"old shell":  {knownnames.OldShell, []string{"sh", "ksh"}, []string{"bash"}},
		"input":      {knownnames.MayRunInput, []string{"", "x=`y`", "eval(z)", "open('/dev/stdin')"}, []string{"print(1)", "input"}},
		"key":        {knownnames.MayBeKey, []string{"GITHUB_TOKEN", "DB_PWD"}, []string{"PWD", "OLDPWD", "HOME"}},
		"hides":      {knownnames.Hides, []string{"LD_PRELOAD", "BASH_ENV", "GIT_SSH"}, []string{"FOO"}},
		"exported":   {knownnames.HidesExported, []string{"FOO", "BASH_ENV", "A\nshell B"}, nil},
	} {
		for _, name := range c.yes {
			if !c.is(name) {
				t.Errorf("%s: %q is not known", what, name)
			}
		}
		for _, name := range c.not {
			if c.is(name) {
				t.Errorf("%s: %q is known", what, name)
			}
		}
	}
	for path, want := range map[string]string{"/bin/ls": "ls", "/usr/bin/env": "env", "/tmp/ls": "", "ls": ""} {
		if got := knownnames.SystemProgram(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	if !knownnames.LookupWord("dig", "mx") || knownnames.LookupWord("dig", "x.example") || knownnames.LookupWord("curl", "mx") {
		t.Error("words of look-up commands")
	}
	if knownnames.PackedEnding("gzip") != ".gz" || knownnames.PackedEnding("ls") != "" {
		t.Error("endings of packers")
	}
}
