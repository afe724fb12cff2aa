package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// search counts how often files are read, and takes each line for a secret.
func search(folder string, reads *int) artifact.Search {
	return artifact.Search{
		Folder: folder,
		Keeps: func(path string) redact.Keeper {
			switch {
			case strings.Contains(path, ".env"):
				return redact.KeepsSecrets
			case strings.HasSuffix(path, ".properties"), strings.HasSuffix(path, ".git/config"):
				return redact.MayKeep
			default:
				return redact.KeepsNone
			}
		},
		Prints: func(_, text string) (list []floodmark.SecretSpan) {
			*reads++
			for line := range strings.Lines(text) {
				list = append(list, floodmark.SecretSpan{Print: strings.TrimSpace(line)})
			}
			return list
		},
	}
}

// holds returns the files that were found, relative to the folder.
func holds(t *testing.T, h artifact.Hoard, folder string) string {
	t.Helper()
	var list []string
	for _, k := range slices.Concat(h.Files, h.Beside) {
		name, err := filepath.Rel(folder, k.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range k.Prints {
			name += " " + p.Print
		}
		list = append(list, name)
	}
	if !h.Whole {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

func lay(t *testing.T, folder, name, text string, age time.Duration) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age)
	for p := path; len(p) >= len(folder); p = filepath.Dir(p) {
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSecretFilesAreFound(t *testing.T) {
	dir, reads := t.TempDir(), 0
	for name, text := range map[string]string{
		".env": "a\nb", "x/y/.env.old": "c", "x/none.properties": "", "x/some.properties": "d", ".git/config": "url", ".git/objects/.env": "no",
		"node_modules/m/.env": "no", "src/main.go": "no",
	} {
		lay(t, dir, name, text, 0)
	}
	d := workspace.New(workspace.Options{})
	s := search(dir, &reads)
	want := ".env a b, .git/config url, x/some.properties d, x/y/.env.old c"
	if got := holds(t, d.Secrets(s), dir); got != want || reads != 5 {
		t.Errorf("%s after %d reads, want %s", got, reads, want)
	}
	// Unchanged files are not read again, changed ones are.
	if got := holds(t, d.Secrets(s), dir); got != want || reads != 5 {
		t.Errorf("again: %s after %d reads", got, reads)
	}
	lay(t, dir, ".env", "e", time.Hour)
	lay(t, dir, "z/.env", "f", time.Hour)
	want = ".env e, .git/config url, x/some.properties d, x/y/.env.old c, z/.env f"
	if got := holds(t, d.Secrets(s), dir); got != want || reads != 7 {
		t.Errorf("later: %s after %d reads, want %s", got, reads, want)
	}
	s.Under = "another key"
	if got := holds(t, d.Secrets(s), dir); got != want || reads != 13 {
		t.Errorf("under another key: %s after %d reads", got, reads)
	}
}

func TestSecretsOfOneFileAndBeside(t *testing.T) {
	dir, reads := t.TempDir(), 0
	lay(t, dir, "home/.env.d/one", "x", 0)
	lay(t, dir, "home/.env", "y", 0)
	lay(t, dir, "p/.env", "z", 0)
	d := workspace.New(workspace.Options{})
	s := search(filepath.Join(dir, "p", ".env"), &reads)
	for _, name := range []string{".env", ".env.d", "gone"} {
		s.Beside = append(s.Beside, filepath.Join(dir, "home", name))
	}
	if got := holds(t, d.Secrets(s), dir); got != "p/.env z, home/.env y, home/.env.d/one x" {
		t.Error(got)
	}
	if got := holds(t, d.Secrets(search(filepath.Join(dir, "gone"), &reads)), dir); got != "…" {
		t.Error(got)
	}
}

// If a limit is reached, the result is reported as incomplete.
func TestLimitsOfALookForSecrets(t *testing.T) {
	for name, fill := range map[string]func(dir string, more int){
		"depth": func(dir string, more int) {
			lay(t, dir, strings.Repeat("d/", workspace.MaxSecretDepth+more)+"a.txt", "", 0)
		},
		"files": func(dir string, more int) {
			for i := range workspace.MaxSecretFiles + more {
				lay(t, dir, fmt.Sprintf("%03d.properties", i), "", 0)
			}
		},
		"bytes": func(dir string, more int) { lay(t, dir, "a.properties", strings.Repeat("x", 64<<10+more), 0) },
		"names": func(dir string, more int) {
			for i := range workspace.MaxSecretNames - 1 + more {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		for more := range 2 {
			dir, reads := t.TempDir(), 0
			fill(dir, more)
			s := search(dir, &reads)
			if name != "bytes" {
				s.Prints = func(string, string) []floodmark.SecretSpan { return nil }
			}
			d := workspace.New(workspace.Options{})
			for range 2 { // also when it is remembered
				if got := d.Secrets(s).Whole; got != (more == 0) {
					t.Errorf("%s, %d more: whole %v", name, more, got)
				}
			}
		}
	}
}

// A search by name alone has wider limits. If one is reached, its result is incomplete, too.
func TestLimitsOfNamesAlone(t *testing.T) {
	for name, fill := range map[string]func(dir string, more int){
		"depth": func(dir string, more int) {
			lay(t, dir, strings.Repeat("d/", workspace.MaxNamedDepth+more)+"a.txt", "", 0)
		},
		"folders": func(dir string, more int) {
			for i := range 69 + more { // the folder itself counts, too
				lay(t, dir, fmt.Sprintf("%02d/a.txt", i), "", 0)
			}
		},
		"names": func(dir string, more int) {
			for i := range 99 + more {
				lay(t, dir, fmt.Sprintf("%d.txt", i), "", 0)
			}
		},
	} {
		for more := range 2 {
			dir, reads := t.TempDir(), 0
			fill(dir, more)
			lay(t, dir, "00/.env", "x", 0)
			s := search(dir, &reads)
			s.Prints = nil
			d := workspace.New(workspace.Options{})
			d.LimitNamed(70, 100)
			if name == "names" {
				if err := os.Remove(filepath.Join(dir, "0.txt")); err != nil { // in place of the folder
					t.Fatal(err)
				}
			}
			if name == "depth" {
				d.LimitNamed(100, 100)
			}
			h := d.Secrets(s)
			if h.Whole != (more == 0) || reads != 0 {
				t.Errorf("%s, %d more: whole %v, %d reads", name, more, h.Whole, reads)
			}
			if more == 0 && holds(t, h, dir) != "00/.env" {
				t.Errorf("%s: %s", name, holds(t, h, dir))
			}
		}
	}
}

// A search of a large folder ends in time, and the next one continues there.
func TestALookAtNamesGoesOn(t *testing.T) {
	dir, reads := t.TempDir(), 0
	for i := range 10 {
		lay(t, dir, fmt.Sprintf("%d/.env", i), "x", 40*365*24*time.Hour)
	}
	synctest.Test(t, func(t *testing.T) {
		s, looked := search(dir, &reads), []string(nil)
		keeps := s.Keeps
		s.Prints, s.Keeps = nil, func(path string) redact.Keeper {
			if !slices.Contains(looked, path) { // a folder that is listed anew takes long
				looked = append(looked, path)
				time.Sleep(workspace.MaxNamedTime / 4)
			}
			return keeps(path)
		}
		d := workspace.New(workspace.Options{})
		h := d.Secrets(s)
		if h.Whole || len(looked) > 5 {
			t.Fatalf("whole %v after %d names", h.Whole, len(looked))
		}
		for n := 2; !h.Whole; n++ {
			if h = d.Secrets(s); n > 3 {
				t.Fatalf("%d files after %d looks", len(h.Files), n)
			}
		}
		if len(h.Files) != 10 {
			t.Errorf("%d files", len(h.Files))
		}
	})
}

// With a real disk, a value of a project's secret file is recognised in a command's output.
func TestAResultWithAKeptSecretIsSecret(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, ".env", "DB_PASSWORD=hunter two\n", 0)
	lay(t, dir, "src/main.go", "package main\n", 0)
	p, err := policy.Shipped("coding")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	rules, disk := kernel.NewRules(p, c), workspace.New(workspace.Options{})
	for name, want := range map[string]struct {
		command, result string
		secrecy         floodmark.Secrecy
	}{
		"a part of the project": {"grep -rn main src", "main.go:1:package main", floodmark.Internal},
		"all of it":             {"grep -rn main .", "src/main.go:1:package main", floodmark.Secret},
		"a diff":                {"git diff", "+package main", floodmark.Internal},
		"a diff with the value": {"git diff", "+DB_PASSWORD=hunter two", floodmark.Secret},
	} {
		s := kernel.NewState()
		call := hook.Call{ID: "c", Name: "Bash", Args: []byte(fmt.Sprintf(`{"command":%q}`, want.command))}
		for _, ev := range []hook.Event{
			{Point: hook.SessionStart, Project: dir},
			{Point: hook.BeforeToolCall, Call: call},
			{Point: hook.AfterToolCall, Call: call, Result: hook.Result{Text: want.result}},
		} {
			ev.Agent, ev.Session = "claude-code", "s"
			out, err := kernel.Step(s, rules, kernel.Input{Event: ev, Key: provenance.Key{1}, Disk: disk})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range out.Facts {
				if err := s.Apply(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.Mark().Secrecy; got != want.secrecy {
			t.Errorf("%s: %s, want %s", name, got, want.secrecy)
		}
	}
}
