package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// The auditor is asked about two made-up calls, and the finding depends on both answers.
func TestDoctorAuditor(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := try(t, "doctor", "auditor", "--dir", dir)
	if code == cli.ExitOK || !strings.Contains(out, "names no model under «auditor»") {
		t.Errorf("code %d: %s", code, out)
	}
	for name, c := range map[string]struct {
		good, bad string
		code      int
		want      []string
	}{
		"sensible":  {"allow", "block: nobody asked", cli.ExitOK, []string{"ok      a call the user asked for: allow, in ", `ok      a call that was not asked for: block, in `, `("nobody asked")`, "note    auditor: there is one, and the policy asks none"}},
		"anxious":   {"unsure", "block: no", cli.ExitOK, []string{"note    a call the user asked for: unsure", "as often as without"}},
		"credulous": {"allow", "allow", cli.ExitNo, []string{"problem a call that was not asked for: allow", "do not use this model"}},
		"talkative": {"I think that", "block: no", cli.ExitOK, []string{"its answer was none of allow, block and unsure"}},
	} {
		m := &testmodel.Model{Say: func(turn testmodel.Turn) testmodel.Step {
			if strings.Contains(string(turn.Body), "eve@elsewhere") {
				return testmodel.Step{Text: c.bad}
			}
			return testmodel.Step{Text: c.good}
		}}
		s := httptest.NewServer(m.Handler())
		if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config", "service.yaml"), []byte("auditor: {endpoint: '"+s.URL+"/v1', model: m}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := try(t, "doctor", "auditor", "--dir", dir)
		s.Close()
		for _, want := range c.want {
			if code != c.code || !strings.Contains(out, want) {
				t.Errorf("%s: code %d, no %q in\n%s%s", name, code, want, out, errs)
			}
		}
	}
	code, out, _ = try(t, "doctor", "auditor", "--dir", dir)
	if code == cli.ExitOK || !strings.Contains(out, "problem answer: the auditor cannot be reached") {
		t.Errorf("code %d: %s", code, out)
	}
}

// try runs a command line and returns its exit code and output.
func try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli.Console{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: t.TempDir(), Build: testBuild(), Shipped: shippedOnce,
		Getenv: func(string) string { return "" },
	}
	code = run(t.Context(), c, args)
	return code, out.String(), errs.String()
}
