package prove_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/prove"
)

func TestKeepAddsToWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "proofs.json")
	if all, err := prove.Proofs(path); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
	at := time.Unix(5, 0).UTC()
	for _, r := range []prove.Result{
		{Agent: "codex", Version: "1", Grade: prove.HostVerified, At: at, Rewrites: true},
		{Agent: "pi", Version: "2", Grade: prove.Failed, Why: "so", At: at},
		{Agent: "pi", Version: "3", Grade: prove.AdapterVerified, At: at},
		{Agent: "cursor", Grade: prove.Failed, At: at},
		{Agent: "cursor", Grade: prove.NotProtected, At: at},
	} {
		if err := prove.Keep(path, []prove.Result{r}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := prove.Proofs(path)
	if err != nil || len(all) != 2 || all["codex"] != (prove.Proof{Version: "1", Grade: prove.HostVerified, At: at, Rewrites: true}) || all["pi"].Version != "3" {
		t.Errorf("%v %v", all, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Error(files, err)
	}
}

func TestProofsThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proofs.json")
	for _, text := range []string{"", "{", `{"v":2,"agents":{}}`, `{"v":1}`, `{"v":1,"agents":{}}` + string(make([]byte, 1<<20))} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := prove.Proofs(path); err == nil {
			t.Errorf("%.20q: %v", text, all)
		}
	}
	if err := prove.Keep(path, []prove.Result{{Agent: "pi", Grade: prove.Failed}}); err != nil {
		t.Fatal(err)
	}
	if all, err := prove.Proofs(path); err != nil || all["pi"].Grade != prove.Failed {
		t.Error(all, err)
	}
}
