package escape_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/box/escape"
)

var (
	given   = flag.String("box", "", "the floodmark-box to try; empty: one that is built")
	only    = flag.String("only", "", "make only the attempts whose names have this")
	against = flag.String("against", "box", "box, bwrap (as most people call it) or the path of srt; of others only figures are shown")
)

// No attempt that works without a box escapes from one.
func TestNothingGetsOut(t *testing.T) {
	list, err := escape.Attempts()
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(a escape.Attempt) bool { return !strings.Contains(a.Name, *only) })
	if *against == "box" {
		here(t)
		nothingLeft(t)
	}
	outcomes, err := escape.Try(t.Context(), enclosure(t), t.TempDir(), list, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		switch {
		case *against != "box" && o.Out && !o.Source():
			t.Logf("out: %s", o.Name)
		case *against == "box" && o.Out && !o.Source():
			t.Errorf("%s: got out: %s", o.Name, o.Said)
		case *against == "box" && o.Not != "":
			t.Errorf("%s: %s: %s", o.Name, o.Not, o.Said)
		case !o.Out && o.Source():
			t.Errorf("%s: source of the project cannot be changed: %s", o.Name, o.Said)
		case !o.Free && !o.Alone:
			t.Logf("%s: it does not work here without a box either", o.Name)
		}
	}
	r := escape.Summary(outcomes)
	t.Logf("%s: %d attempts, %d of them work without a box, %d got out", *against, r.Attempts, r.Free, len(r.Out))
	if *against == "box" && !r.Verified {
		t.Errorf("%+v", r)
	}
}

// Here finds out without any attempt whether a box can be made: with a floodmark-box, with one in a
// sandbox that allows no namespaces, and with none.
func here(t *testing.T) {
	t.Helper()
	program := built(t)
	if why, hint := escape.Here(t.Context(), program); why != "" || hint != "" {
		t.Errorf("%s: %s", why, hint)
	}
	around := filepath.Join(t.TempDir(), "floodmark-box")
	script := "#!/bin/sh\nexec unshare --user --map-current-user --keep-caps sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" \"$@\"' " + program + " \"$@\"\n"
	if err := os.WriteFile(around, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if why, hint := escape.Here(t.Context(), around); !strings.Contains(why, "no box works here: this machine does not let you make a box") || hint == "" {
		t.Errorf("%s: %s", why, hint)
	}
	if why, hint := escape.Here(t.Context(), "/no/such/program"); !strings.Contains(why, "no such file") || hint == "" {
		t.Errorf("%s: %s", why, hint)
	}
}

// Nothing is left of a ticket when its box has ended, because each later box would read it again.
func nothingLeft(t *testing.T) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(root, "home"), filepath.Join(root, "home", "ws")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	program, done, err := enclosure(t)(home, project, "true", escape.Call{})
	if err != nil {
		t.Fatal(err)
	}
	left := func() []string {
		list, _ := filepath.Glob(filepath.Join(boxticket.Folder(os.Getuid()), program[2]+"*"))
		return list
	}
	if out, err := exec.CommandContext(t.Context(), program[0], program[1:]...).CombinedOutput(); err != nil || len(left()) == 0 {
		t.Fatalf("%v: %s; %v", err, out, left())
	}
	if done(); len(left()) > 0 {
		t.Errorf("%v is left", left())
	}
}

// built returns the floodmark-box to test.
func built(t *testing.T) string {
	t.Helper()
	if *given != "" {
		return *given
	}
	program := filepath.Join(t.TempDir(), "floodmark-box")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/floodmark-box").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func enclosure(t *testing.T) escape.Enclosure {
	t.Helper()
	switch *against {
	case "box":
		program := built(t)
		shipped, err := catalog.Shipped()
		if err != nil {
			t.Fatal(err)
		}
		in, err := escape.Box(program, boxspec.Rules(shipped))
		if err != nil {
			t.Fatal(err)
		}
		return in
	case "bwrap":
		return func(_, project, command string, _ escape.Call) ([]string, func(), error) {
			return append(strings.Fields("bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --bind /tmp /tmp"),
				"--bind", project, project, "--chdir", project, "bash", "-c", command), func() {}, nil
		}
	}
	return srt
}

// srt is the enclosure of sandbox-runtime, with settings that hide and protect what a box does.
func srt(home, project, command string, _ escape.Call) ([]string, func(), error) {
	type list = []string
	var hidden list
	for _, name := range strings.Fields(".ssh .gnupg .aws .config/floodmark .codex .claude .git-credentials .npmrc .cargo/credentials.toml .mozilla .bash_history notes other") {
		hidden = append(hidden, filepath.Join(home, name))
	}
	settings, err := json.Marshal(map[string]any{
		"network": map[string]any{"allowedDomains": list{}, "deniedDomains": list{}},
		"filesystem": map[string]any{
			"denyRead": append(hidden, filepath.Join(project, ".env"), filepath.Join(project, "deploy/prod/.env.local")), "allowWrite": list{project, "/tmp/srt"},
			"denyWrite": list{filepath.Join(project, "AGENTS.md"), filepath.Join(project, "CLAUDE.md"), filepath.Join(project, ".github")},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(filepath.Dir(home), "srt.json")
	return []string{"node", *against, "--settings", file, "-c", command}, func() {}, os.WriteFile(file, settings, 0o600)
}
