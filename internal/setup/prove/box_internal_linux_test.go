package prove

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A box is only used if this program was seen to hold on this kernel.
func TestABoxThatHeld(t *testing.T) {
	folder := t.TempDir()
	r := &Rewrites{Proofs: filepath.Join(folder, "proofs.json"), Box: filepath.Join(folder, "floodmark-box")}
	at := time.Unix(5, 0).UTC()
	write := func(text string) string {
		if err := os.WriteFile(r.Box, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		digest, err := programDigest(r.Box)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	keep := func(program string, held bool) {
		if err := keepBox(r.Proofs, program, held, at); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, want bool) {
		t.Helper()
		if r.BoxHolds() != want {
			t.Errorf("%s: %v", what, !want)
		}
		if r.Boxes(t.Context(), "pi") {
			t.Errorf("%s: nothing was seen of the agent", what)
		}
	}
	digest := write("one")
	want("nothing was tried", false)
	keep(digest, true)
	want("it held", true)
	if err := Keep(r.Proofs, []Result{{Agent: "pi", Grade: Failed, At: at}}); err != nil {
		t.Fatal(err)
	}
	want("an agent was tried since", true)
	if err := change(r.Proofs, func(p *proofs) { p.Box.Kernel = "6.1" }); err != nil {
		t.Fatal(err)
	}
	want("another kernel", false)
	keep(digest, true)
	write("another")
	want("another program", false)
	write("one")
	want("the same again", true)
	keep(digest, false)
	want("it got out", false)
	if (*Rewrites)(nil).BoxHolds() || (&Rewrites{Proofs: r.Proofs}).BoxHolds() {
		t.Error("there is no box")
	}
}
