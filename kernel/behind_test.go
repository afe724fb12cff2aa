package kernel

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel/artifact"
)

// linkedDisk is a disk with links, by their names.
type linkedDisk map[string]string

func (linkedDisk) Content(string) floodmark.Digest            { return floodmark.Digest{} }
func (linkedDisk) Nested(string) (folders []string, all bool) { return nil, false }

func (linkedDisk) Links(string, bool) map[string]string    { return nil }
func (linkedDisk) Missing(string) bool                     { return false }
func (linkedDisk) Exactly(string) (d floodmark.Digest)     { return d }
func (linkedDisk) Head(string) string                      { return "" }
func (linkedDisk) Starts(string, []string) []string        { return nil }
func (linkedDisk) Repository(string) (dir, common string)  { return "", "" }
func (linkedDisk) Around(string) (artifact.Checkout, bool) { return artifact.Checkout{}, false }
func (linkedDisk) Databases(string) []string               { return nil }
func (linkedDisk) Composes(string) bool                    { return false }
func (linkedDisk) Pushes(string, string) floodmark.Digest  { return floodmark.Digest{} }
func (linkedDisk) Secrets(artifact.Search) artifact.Hoard  { return artifact.Hoard{Whole: true} }

func (d linkedDisk) Resolve(p string) string {
	if to, ok := d[p]; ok {
		return to
	}
	return p
}

// A link cannot be used to write past the guards, no matter who put it there.
func TestLinksThatLeadToWhatIsGuarded(t *testing.T) {
	disk := linkedDisk{
		"/p/link.json": "/home/u/.codex/hooks.json", "/p/dir": "/home/u/.codex", "/p/dir/hooks.json": "/home/u/.codex/hooks.json",
		"/p/note": "/p/AGENTS.md", "/p/plain": "/srv/plain", "/p/tree": "/srv/tree",
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agent, tool, key, value string
		self, admin             bool
	}{
		{"claude-code", "Write", "file_path", "/p/link.json", true, true},
		{"claude-code", "Edit", "file_path", "link.json", true, true},
		{"claude-code", "Write", "file_path", "dir/hooks.json", true, true},
		{"claude-code", "Write", "file_path", "/p/note", false, true},
		{"claude-code", "Write", "file_path", "/p/plain", false, false},
		{"claude-code", "Write", "file_path", "/p/other.json", false, false},
		{"claude-code", "Read", "file_path", "/p/link.json", false, false},
		{"codex", "apply_patch", "input", "*** Begin Patch\n*** Update File: link.json\n@@\n-a\n+b\n*** End Patch", true, true},
		{"codex", "Bash", "command", "echo {} > link.json", true, true},
		{"codex", "Bash", "command", "cp x dir/hooks.json", true, true},
		{"codex", "Bash", "command", "rsync -a x/ dir/", true, true},
		{"codex", "Bash", "command", "rsync -a x/ tree/", false, false},
		{"codex", "Bash", "command", "cat link.json", false, false},
		{"codex", "Bash", "command", "echo x > plain", false, false},
	} {
		args, err := json.Marshal(map[string]string{c.key: c.value})
		if err != nil {
			t.Fatal(err)
		}
		for _, seen := range []bool{true, false} {
			st := checkedStep(t, "profile: coding")
			st.s.Project, st.s.Home, st.ev.Agent, st.s.Agent = "/p", "/home/u", c.agent, c.agent
			st.r.Catalog = shipped
			if seen {
				st.in.Disk = disk
			}
			j := st.judge(hook.Call{ID: "c", Name: c.tool, Args: args}, &Context{Mark: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Internal}})
			got := slices.Contains(j.action.Effects, floodmark.Admin)
			if j.basis.SelfProtected != (c.self && seen) || got != (c.admin && seen) {
				t.Errorf("%s %s, seen %v: self-protected %v, %v", c.tool, c.value, seen, j.basis.SelfProtected, j.action.Effects)
			}
		}
	}
}

// Below Local a write is judged by where its link leads, also if the project itself is a link.
func TestLinksThatLeadOutOfTheProject(t *testing.T) {
	disk := linkedDisk{"/p": "/data/p", "/p/a": "/data/p/a", "/p/out": "/data/x", "/p/dot": "/data/p/.foo", "/p/tmp": "/tmp/x"}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	write := []floodmark.Effect{floodmark.Write}
	for path, want := range map[string][]floodmark.Effect{
		"/p/a": write, "/p/tmp": write, "/p/out": {floodmark.Write, floodmark.Change}, "/p/dot": {floodmark.Write, floodmark.Admin},
	} {
		for trust, want := range map[floodmark.Trust][]floodmark.Effect{floodmark.Shared: want, floodmark.Local: write} {
			st := checkedStep(t, "profile: coding")
			st.s.Project, st.s.Home, st.ev.Agent, st.s.Agent, st.r.Catalog, st.in.Disk = "/p", "/home/u", "pi", "pi", shipped, disk
			args, err := json.Marshal(map[string]string{"path": path, "content": "x"})
			if err != nil {
				t.Fatal(err)
			}
			j := st.judge(hook.Call{ID: "c", Name: "write", Args: args}, &Context{Mark: floodmark.Label{Trust: trust, Secrecy: floodmark.Internal}})
			if !slices.Equal(j.action.Effects, want) {
				t.Errorf("%s at %v: %v", path, trust, j.action.Effects)
			}
		}
	}
}

func (linkedDisk) Revisions(string, []string) []artifact.Checkout { return nil }
