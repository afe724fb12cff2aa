package protect

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var installed = flag.String("agents", "", "the folder the real agents are installed in; without it they are not asked")

// The hashes that we compute are those of the real Codex, which is found with its version.
func TestCodexKnowsOurHashes(t *testing.T) {
	if *installed == "" {
		t.Skip("the real Codex is asked by .ci/agents")
	}
	b := newBench(t)
	b.have("codex")
	b.env["PATH"] = filepath.Join(*installed, "codex-0.166.0", "node_modules", ".bin") + ":" + os.Getenv("PATH")
	f, there, err := b.Find(t.Context(), "codex")
	if err != nil || !there || f.Version != "0.166.0" {
		t.Fatalf("found %+v, %v, %v", f, there, err)
	}
	p := b.protect("codex")
	b.apply(p)
	if len(p.Notes) > 0 {
		t.Error(p.Notes)
	}
	hooks, err := os.ReadFile(filepath.Join(f.Folder, "hooks.json"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := codexHooks(hooks)
	if err != nil || len(ours) == 0 {
		t.Fatal(ours, err)
	}
	asked, err := askCodex(t.Context(), b.Machine, f.Program, hooks)
	if err != nil {
		t.Fatal(err)
	}
	told := map[trusted]bool{}
	for _, one := range asked {
		told[one] = true
	}
	for _, one := range ours {
		if !told[one] {
			t.Errorf("Codex does not know %v; it knows %v", one, asked)
		}
	}
	if b.state("codex") != Protected {
		t.Error("it is not protected")
	}
}
