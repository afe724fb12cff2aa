package clean

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// object writes an object of git and returns its name.
func (r *rig) object(kind, body string) string {
	r.Helper()
	whole := fmt.Sprintf("%s %d\x00%s", kind, len(body), body)
	sum := sha1.Sum([]byte(whole))
	id := hex.EncodeToString(sum[:])
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write([]byte(whole)); err != nil || z.Close() != nil {
		r.Fatal(err)
	}
	r.write(".git/objects/"+id[:2]+"/"+id[2:], packed.String())
	return id
}

// commit commits one file as HEAD.
func (r *rig) commit(name, text string) string {
	r.Helper()
	blob, err := hex.DecodeString(r.object("blob", text))
	if err != nil {
		r.Fatal(err)
	}
	tree := r.object("tree", "100644 "+name+"\x00"+string(blob))
	id := r.object("commit", "tree "+tree+"\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\nx\n")
	r.write(".git/HEAD", "ref: refs/heads/main\n")
	r.write(".git/refs/heads/main", id+"\n")
	return id
}

func (r *rig) show(paths ...string) (*List, []Shown) {
	r.Helper()
	l, files, err := r.Show(r.Context(), "", r.root, paths)
	if err != nil {
		r.Fatal(err)
	}
	return l, files
}

func TestAFileIsVouchedForAsItWasShown(t *testing.T) {
	r := emptyRig(t)
	r.write("Conftest.py", "import os\n")
	first := r.commit("Conftest.py", "import os\n")
	r.write("Conftest.py", "import os\nevil\n")
	r.low("a", "Conftest.py")
	// A commit that a box made is not used for the comparison.
	if next := r.commit("Conftest.py", "import os\nevil\n"); next == first {
		t.Fatal("the same commit")
	}
	if r.free("b") {
		t.Fatal("a low file does not box the next run")
	}
	l, files := r.show()
	if len(files) != 1 || string(files[0].Old) != "import os\n" || files[0].Commit != first || string(files[0].New) != "import os\nevil\n" {
		t.Fatalf("%+v, %+v", l, files)
	}
	if _, files := r.show("elsewhere"); len(files) != 0 {
		t.Errorf("%+v", files)
	}
	l, _ = r.show("conftest.py")
	r.write("Conftest.py", "import os\nworse\n")
	if _, err := r.Endorse(t.Context(), "", l.Token, "ada"); !errors.Is(err, ErrList) || r.free("c") {
		t.Fatal("it was changed between the showing and the yes:", err)
	}
	r.write("Conftest.py", "import os\nevil\n")
	l, _ = r.show(".")
	done, err := r.Endorse(t.Context(), "", l.Token, "ada")
	if err != nil || len(done) != 1 || !r.free("d") {
		t.Fatal("it is not as before:", err)
	}
	if _, err := r.Endorse(t.Context(), "", l.Token, "ada"); !errors.Is(err, ErrList) {
		t.Error("a list counts twice:", err)
	}
	if _, files := r.show(); len(files) != 0 {
		t.Error("it is shown again")
	}
	r.write("Conftest.py", "import os\nworse\n")
	if r.free("e") {
		t.Error("a file that was changed after it was endorsed is free")
	}
	r.write("Conftest.py", "import os\nevil\n")
	r.write("conftest.PY", "worse\n") // both names share a label
	if r.free("f") {
		t.Error("another file of the name in other letters is free")
	}
	if err := os.Remove(filepath.Join(r.root, "conftest.PY")); err != nil || !r.free("g") {
		t.Error("the endorsement is lost:", err)
	}
	if err := r.Withdraw(t.Context(), "", done[0].Digest.String()[:12], "ada"); err != nil || r.free("h") {
		t.Error("it was withdrawn:", err)
	}
}

func TestWhatCannotBeShownIsNotVouchedFor(t *testing.T) {
	r := newRig(t)
	r.write("big.txt", strings.Repeat("x", MaxSmall+1))
	r.write("target/a.o", "evil")
	r.write("nul.bin", "a\x00b")
	if err := os.Symlink("/etc/passwd", filepath.Join(r.root, "link.txt")); err != nil {
		t.Fatal(err)
	}
	r.low("a", "big.txt", "target/**", "link.txt", "nul.bin", "gone.txt")
	l, files := r.show()
	if len(files) != 0 || len(l.Stays) != 4 {
		t.Errorf("%+v: %+v", files, l.Stays)
	}
	if _, err := r.Endorse(t.Context(), "", l.Token, "ada"); !errors.Is(err, ErrList) {
		t.Error(err)
	}
}

// If an object does not match its name, or the beginning of a session was not seen, there is no
// comparison, and the whole file is shown.
func TestAForgedObjectIsNotComparedWith(t *testing.T) {
	r := emptyRig(t)
	r.write("a.py", "mine\n")
	id := r.commit("a.py", "mine\n")
	r.low("a", "a.py")
	if _, files := r.show(); len(files) != 1 || files[0].Commit != id {
		t.Fatalf("%+v", files)
	}
	forged := r.object("commit", "tree x\n")
	data, err := os.ReadFile(filepath.Join(r.root, ".git/objects", forged[:2], forged[2:]))
	if err != nil {
		t.Fatal(err)
	}
	r.write(".git/objects/"+id[:2]+"/"+id[2:], string(data))
	if _, files := r.show(); len(files) != 1 || files[0].Commit != "" || files[0].Old != nil {
		t.Errorf("%+v", files)
	}
}
