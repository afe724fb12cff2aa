package kernel

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// pushDisk is a disk whose checkouts all push to one place.
type pushDisk string

func (d pushDisk) Around(string) (artifact.Checkout, bool) {
	c := artifact.Checkout{Root: "/p", Commit: "c", Own: d == "own", Team: d == "team"}
	return c, c.Own || c.Team || d == "stranger"
}

func (pushDisk) Content(string) floodmark.Digest            { return floodmark.Digest{} }
func (pushDisk) Nested(string) (folders []string, all bool) { return nil, false }

func (pushDisk) Links(string, bool) map[string]string { return nil }
func (pushDisk) Missing(string) bool                  { return false }
func (pushDisk) Exactly(string) (d floodmark.Digest)  { return d }

// pushesTo returns where a push goes from a project when a session begins there.
func pushesTo(st *step, project string) floodmark.Digest {
	to, _ := st.beginsAt(project)
	return to
}

func (pushDisk) Head(string) string                     { return "" }
func (pushDisk) Starts(string, []string) []string       { return nil }
func (pushDisk) Repository(string) (dir, common string) { return "", "" }
func (pushDisk) Resolve(p string) string                { return p }
func (pushDisk) Secrets(artifact.Search) artifact.Hoard { return artifact.Hoard{Whole: true} }
func (pushDisk) Databases(string) []string              { return nil }
func (pushDisk) Composes(string) bool                   { return false }

func (d pushDisk) Pushes(_, branch string) floodmark.Digest {
	if d == "" || branch == "other" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(string(d))
}

func refTo(k floodmark.ArtifactKind, p string) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: k, Name: catalog.FoldPath(p)}
}

// A push that was asked for needs each of these conditions.
func TestPushed(t *testing.T) {
	written := func(trust floodmark.Trust, inert bool) func(*step) {
		return func(st *step) {
			st.in.Artifacts = shelf{{Version: floodmark.ArtifactVersion{Session: "s"}, Artifact: floodmark.Artifact{
				Ref: refTo(floodmark.TreeArtifact, "/p"), Inert: inert, Sources: []floodmark.Source{{Label: floodmark.Label{Trust: trust, Secrecy: floodmark.Public}}},
			}}}
		}
	}
	record := func(name string, trust floodmark.Trust, secrecy floodmark.Secrecy) func(*step) {
		return func(st *step) {
			st.in.Artifacts = shelf{
				{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{Ref: refTo(floodmark.FolderArtifact, "/p"), Below: []floodmark.ArtifactRef{refTo(floodmark.FileArtifact, name)}}},
				{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{
					Ref: refTo(floodmark.FileArtifact, name), Sources: []floodmark.Source{{Label: floodmark.Label{Trust: trust, Secrecy: secrecy}}},
				}},
			}
		}
	}
	says := func(text string) func(*step) { return func(st *step) { st.s.Owner = []string{text} } }
	for _, c := range []struct {
		name   string
		change func(*step)
		want   bool
	}{
		{"as it is", func(*step) {}, true},
		{"no disk", func(st *step) { st.in.Disk = nil }, false},
		{"no project", func(st *step) { st.s.Project = "" }, false},
		{"nothing known at the beginning", func(st *step) { st.s.PushesTo = floodmark.Digest{} }, false},
		{"never known", func(st *step) { st.s.PushesTo, st.in.Disk = floodmark.Digest{}, pushDisk("") }, false},
		{"changed since", func(st *step) { st.in.Disk = pushDisk("b") }, false},
		{"not asked for", says("Tidy up"), false},
		{"forbidden", says("Don't push it"), false},
		{"asked for in an earlier turn", func(st *step) { st.s.Owner, st.s.TurnBegan = []string{"Please push it", "Tidy up"}, 1 }, false},
		{"by a call that opens the next turn", func(st *step) { st.s.InTurn = false }, false},
		{"written by strangers", written(floodmark.Untrusted, false), false},
		{"written by friends", written(floodmark.Shared, false), false},
		{"written by the owner's own work", written(floodmark.Local, false), true},
		{"written by strangers, inert to an older version", written(floodmark.Untrusted, true), false},
		{"committed by strangers", record("/p"+catalog.CommitsOf, floodmark.Untrusted, floodmark.Public), false},
		{"named a commit", record("/p"+catalog.NamesOf, floodmark.Untrusted, floodmark.Public), false},
		{"made of what is internal", record("/p/a.md", floodmark.Local, floodmark.Internal), true},
		{"made of what is private", record("/p/a.md", floodmark.Local, floodmark.Private), false},
	} {
		st := checkedStep(t, "profile: coding")
		st.in.Disk, st.s.Project, st.s.Owner, st.s.InTurn = pushDisk("a"), "/p", []string{"Please push it"}, true
		st.s.PushesTo = pushesTo(st, "/p")
		c.change(st)
		if got := st.pushed(&catalog.Use{Pushes: true}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if st.pushed(&catalog.Use{Pushes: true, Branch: "other"}) {
			t.Errorf("%s: another branch", c.name)
		}
		if st.pushed(&catalog.Use{}) {
			t.Errorf("%s: a line that pushes nothing", c.name)
		}
	}
}

// A push that was asked for is the owner's only from a checkout of theirs or of the team's, with
// all that is in it.
func TestPushedFrom(t *testing.T) {
	named := shelf{
		{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{Ref: refTo(floodmark.FolderArtifact, "/p"), Below: []floodmark.ArtifactRef{refTo(floodmark.FileArtifact, "/p"+catalog.NamesOf)}}},
		{Version: floodmark.ArtifactVersion{Session: "x"}, Artifact: floodmark.Artifact{
			Ref: refTo(floodmark.FileArtifact, "/p"+catalog.NamesOf), Sources: []floodmark.Source{{Label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}}},
		}},
	}
	for _, c := range []struct {
		whose   pushDisk
		project string
		left    shelf
		want    bool
	}{
		{"own", "/p", nil, true},
		{"team", "/p", nil, true},
		{"stranger", "/p", nil, false},
		{"own", "/p", named, false},
		{"own", "/p/docs", named, false},
	} {
		st := checkedStep(t, "profile: coding")
		st.in.Disk, st.in.Artifacts, st.s.Project, st.s.Owner, st.s.InTurn = c.whose, c.left, c.project, []string{"Please push it"}, true
		st.s.PushesTo = pushesTo(st, c.project)
		if got := st.pushed(&catalog.Use{Pushes: true}); got != c.want {
			t.Errorf("%s %s: %v", c.whose, c.project, got)
		}
	}
}

func TestPushesTo(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	if !pushesTo(st, "/p").IsZero() {
		t.Error("without a disk")
	}
	st.in.Disk = pushDisk("a")
	if pushesTo(st, "/p") != floodmark.DigestOf("a") || !pushesTo(st, "").IsZero() {
		t.Error("with a disk")
	}
}

func (pushDisk) Revisions(string, []string) []artifact.Checkout { return nil }
