package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
)

func TestAdvice(t *testing.T) {
	bad := []boxticket.Change{{Path: "ok"}, {Path: "AGENTS.md", Refused: "it is obeyed"}, {Path: "a\nb", Refused: "no"}, {Path: "c", Refused: "no"}, {Path: "d", Refused: "no"}}
	project, no := t.TempDir(), boxticket.Outcome{Exit: 1}
	if err := os.WriteFile(filepath.Join(project, ".env"), []byte("KEY=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := box.Spec{Secret: []string{"**/.env*"}}
	for name, c := range map[string]struct {
		o    boxticket.Outcome
		s    box.Spec
		want []string // what each line has
		run  string
	}{
		"nothing":                {want: nil},
		"failed by itself":       {o: boxticket.Outcome{Exit: 1}},
		"did without":            {o: boxticket.Outcome{Hosts: []string{"telemetry.example"}}},
		"wanted a host":          {o: boxticket.Outcome{Exit: 128, Hosts: []string{"github.com"}}, want: []string{"no network in the box: github.com was wanted"}},
		"ended by a signal":      {o: boxticket.Outcome{Signal: 15, Hosts: []string{"github.com"}}, want: []string{"github.com"}},
		"many refused":           {o: boxticket.Outcome{Changes: bad}, want: []string{`not kept: AGENTS.md (it is obeyed), "a\nb", c, d (no): `}},
		"one refused":            {o: boxticket.Outcome{Changes: bad[:2]}, want: []string{"not kept: AGENTS.md (it is obeyed): "}},
		"unmoved":                {o: boxticket.Outcome{Unmoved: "disk full"}, want: []string{"disk full"}},
		"background":             {o: boxticket.Outcome{Exit: 1}, s: box.Spec{ReadOnly: true}, want: []string{"read-only"}},
		"left":                   {o: boxticket.Outcome{Left: true}, want: []string{"background call"}},
		"a service":              {o: boxticket.Outcome{Exit: 1}, run: "cd x && /usr/bin/docker compose up", want: []string{"so docker has nothing to talk to"}},
		"a service that works":   {run: "docker --version"},
		"the name of a service":  {o: boxticket.Outcome{Exit: 1}, run: "make dockerfile"},
		"a file of secrets":      {o: no, s: secret, run: "node --env-file=.env app.js", want: []string{".env is empty in the box"}},
		"by its whole path":      {o: no, s: secret, run: "cat '" + project + "/.env'", want: []string{"/.env is empty in the box"}},
		"by rule":                {o: no, s: box.Spec{Hidden: []string{".env"}}, run: "source .env; x", want: []string{".env is empty"}},
		"no such file":           {o: no, s: secret, run: "cat .env.test ../.env other/.env"},
		"it did not need it":     {s: secret, run: "cat .env"},
		"a variable":             {o: no, run: `psql "$DATABASE_URL"`, want: []string{"not set in the box, because variables may hold logins: DATABASE_URL:"}},
		"a variable in code":     {o: no, run: `python -c 'os.environ["DATABASE_URL"]'`, want: []string{"DATABASE_URL"}},
		"a variable that is set": {o: no, run: `DATABASE_URL=x sh -c 'psql $DATABASE_URL'`},
		"other variables":        {o: no, run: `echo $PATH $HOME $_ $DATABASE $DATABASE_URLS`},
		"a variable not needed":  {run: `psql "$DATABASE_URL"`},
		"refused and a signal":   {o: boxticket.Outcome{Exit: 1, Hosts: []string{"h"}, Changes: bad[:2]}, want: []string{"not kept", "no network"}},
	} {
		c.s.Project = project
		got := advice(&c.o, &c.s, []string{"bash", "-c", c.run}, []string{"DATABASE_URL=postgres://me:pw@h", "PATH=/bin", "_=x"}, project)
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, line := range got {
			if strings.Contains(line, "me:pw") {
				t.Errorf("%s: a value is told: %q", name, line)
			}
			if strings.Contains(line, "\n") {
				t.Errorf("%s: more than one line: %q", name, line)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	name, command, err := arguments([]string{"--ticket", "n", "--", "sh", "--", "x"})
	if err != nil || name != "n" || !slices.Equal(command, []string{"sh", "--", "x"}) {
		t.Errorf("%q, %q, %v", name, command, err)
	}
	for _, args := range []string{"", "sh", "--ticket", "--ticket n", "--ticket n --", "--ticket n sh -c", "--ticket=n -- sh x", "n -- sh x"} {
		if _, _, err := arguments(strings.Fields(args)); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}

// The help of the program has five lines and says that it is not called by hand.
func TestHelp(t *testing.T) {
	if n := strings.Count(help, "\n"); n != 5 || !strings.Contains(help, "It is not called by hand") {
		t.Errorf("%d lines:\n%s", n, help)
	}
	for line := range strings.Lines(help) {
		if len([]rune(line)) > 96 {
			t.Errorf("too long: %q", line)
		}
	}
}
