package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everyClient returns a home in which every client has servers in each of its possible files.
func everyClient(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.Program, b.Gateway = testProgram, []string{"--socket", "/run/user/1000/floodmark/hook.sock"}
	b.write(filepath.Join(b.env["HOME"], ".config/Code/User/profiles/p1/mcp.json"), "{}")
	for _, k := range clients() {
		texts := nastyServers(k.Name)
		var names []string
		for name := range texts {
			if name != "empty" && name != "none" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for i, path := range k.serverPaths(b.Machine) {
			b.write(path, texts[names[i%len(names)]])
		}
	}
	return b
}

func (b *bench) wrap(names ...string) *Plan {
	b.t.Helper()
	p, err := b.ProtectServers(b.t.Context(), names...)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) unwrap(names ...string) *Plan {
	b.t.Helper()
	p, err := b.UnprotectServers(b.t.Context(), names...)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// direct returns how many servers could be behind the gateway but are not.
func (b *bench) direct() (n int) {
	for _, c := range b.Servers() {
		for _, s := range c.Servers {
			if s.Path == Direct || s.Path == Through && !s.Settled {
				n++
			}
		}
	}
	return n
}

func (b *bench) forgotten(what string) {
	b.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(b.Records, "*.json")); len(left) > 0 {
		b.t.Errorf("%s: records are left: %v", what, left)
	}
}

// The servers of all clients are put behind the gateway at once, and restored: once with unwrap,
// and once with unprotect.
func TestServersOfEveryClient(t *testing.T) {
	b := everyClient(t)
	before := b.tree()
	if b.direct() < len(clients()) {
		t.Fatalf("only %d servers", b.direct())
	}
	plan := b.wrap()
	if len(plan.Agents) != len(clients()) || len(plan.Uncovered) == 0 {
		t.Errorf("%d clients, %d servers not covered", len(plan.Agents), len(plan.Uncovered))
	}
	b.apply(plan)
	if n := b.direct(); n > 0 {
		t.Errorf("%d servers are not behind the gateway", n)
	}
	if again := b.wrap(); !again.Nothing() {
		t.Errorf("a second time: %v", again.Changes)
	}
	b.apply(b.unwrap())
	b.like(before, "given back")
	b.forgotten("given back")
	if again := b.unwrap(); !again.Nothing() {
		t.Errorf("given back twice: %v", again.Changes)
	}
	b.apply(b.wrap())
	b.apply(b.unprotect())
	b.like(before, "everything given back")
	b.forgotten("everything given back")
}

// Hooks and the gateway can be put into the same files in either order. Removing the gateway leaves
// the files with hooks, and removing the hooks then restores the old bytes.
func TestServersBesideHooks(t *testing.T) {
	for _, order := range []string{"hooks first", "servers first"} {
		b := everyClient(t)
		for _, name := range []string{"codex", "gemini-cli", "opencode"} {
			b.have(name)
		}
		hooked := everyClient(t)
		before := b.tree()
		hooked.apply(hooked.protect())
		withHooks := relocated(b, hooked, hooked.tree())
		if order == "hooks first" {
			b.apply(b.protect())
			b.apply(b.wrap())
		} else {
			b.apply(b.wrap())
			if s := b.state("codex"); s != Open {
				t.Errorf("%s: with servers alone it is %s", order, s)
			}
			b.apply(b.protect())
		}
		for _, name := range []string{"codex", "gemini-cli", "opencode"} {
			if s := b.state(name); s != Protected || b.direct() > 0 {
				t.Errorf("%s: %s is %s, %d servers direct", order, name, s, b.direct())
			}
		}
		if again := b.protect(); !again.Nothing() {
			t.Errorf("%s: hooks once more: %v", order, again.Changes)
		}
		b.apply(b.unwrap())
		if s := b.state("codex"); s != Protected {
			t.Errorf("%s: without servers it is %s", order, s)
		}
		b.like(withHooks, order+", servers given back")
		b.apply(b.unprotect())
		b.like(before, order+", all given back")
		b.forgotten(order)
	}
}

// If the command is killed at any step, each file is either the old or the new one. The same
// command can finish, and each way of undoing restores the old files.
func TestServersKilledAtEveryStep(t *testing.T) {
	some := []string{"codex", "cursor", "opencode"}
	whole := everyClient(t)
	before := whole.tree()
	whole.apply(whole.wrap(some...))
	after := whole.tree()
	steps := 0
	for _, undo := range []bool{false, true} {
		for n := 0; ; n++ {
			what := fmt.Sprintf("undo %v, killed at step %d", undo, n)
			b := everyClient(t)
			old, fresh := relocated(b, whole, before), relocated(b, whole, after)
			plan := b.wrap(some...)
			if undo {
				b.apply(plan)
				plan = b.unwrap()
			}
			if !kill(plan, n) {
				break
			}
			steps++
			b.oldOrNew(old, fresh, what)
			switch n % 3 {
			case 0:
				b.apply(b.wrap(some...))
				b.like(fresh, what+", led through")
				b.apply(b.unwrap())
			case 1:
				b.apply(b.unwrap())
			case 2:
				b.apply(b.unprotect())
			}
			b.like(old, what)
			b.forgotten(what)
		}
	}
	if steps < 24 {
		t.Errorf("only %d steps", steps)
	}
}

// The command is killed while it restores servers in files whose hooks stay.
func TestServersKilledBesideHooks(t *testing.T) {
	set := func() *bench {
		b := newBench(t)
		b.Program, b.Gateway = testProgram, []string{"--socket", "/run/user/1000/floodmark/hook.sock"}
		b.write(b.have("codex")[1].path, nastyServers("codex")["table"])
		b.write(b.have("gemini-cli")[0].path, nastyServers("gemini-cli")["usual"])
		return b
	}
	for n := 0; ; n++ {
		b := set()
		before := b.tree()
		b.apply(b.protect())
		hooks := b.tree()
		b.apply(b.wrap())
		if !kill(b.unwrap(), n) {
			if n < 6 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if n%2 == 0 {
			b.apply(b.unwrap())
			b.like(hooks, fmt.Sprintf("killed at step %d", n))
		}
		b.apply(b.unprotect())
		b.like(before, fmt.Sprintf("killed at step %d, all given back", n))
		b.forgotten("all")
	}
}

// What a person changes while servers are behind the gateway stays. The next run puts new servers
// behind it, too.
func TestServersEditedMeanwhile(t *testing.T) {
	b := newBench(t)
	b.Program, b.Gateway = testProgram, []string{"--socket", "/run/user/1000/floodmark/hook.sock"}
	path := filepath.Join(b.env["HOME"], ".cursor", "mcp.json")
	b.write(path, `{"mcpServers": {"a": {"command": "x"}}}`)
	b.apply(b.wrap())
	b.write(path, strings.Replace(b.read(path), `{"mcpServers": {`, `{"mcpServers": {"new": {"command": "y", "args": ["1"]}, `, 1))
	if b.direct() != 1 {
		t.Errorf("%d servers are not behind the gateway", b.direct())
	}
	b.apply(b.wrap())
	if b.direct() != 0 {
		t.Errorf("%d servers are not behind the gateway", b.direct())
	}
	want := `{"mcpServers": {"new": {"command": "y", "args": ["1"]}, "a": {"command": "x"}}}`
	edit := func() { b.write(path, b.read(path)+"\n") }
	edit()
	plan := b.unwrap()
	if len(plan.Changes) != 1 || !strings.Contains(plan.Changes[0].Note, "edited") {
		t.Errorf("%+v", plan.Changes)
	}
	b.apply(plan)
	if got := b.read(path); got != want+"\n" {
		t.Errorf("got %s", got)
	}
	b.forgotten("edited")
}

// Files of a project are changed only if the project is named. They are restored even if the
// project is not named.
func TestServersOfAProject(t *testing.T) {
	b := newBench(t)
	b.Program, b.Gateway = testProgram, []string{"--socket", "/run/user/1000/floodmark/hook.sock"}
	project := filepath.Join(b.env["HOME"], "project")
	var paths []string
	for _, k := range clients() {
		for _, name := range k.shared {
			paths = append(paths, filepath.Join(project, name))
			b.write(filepath.Join(project, name), nastyServers(k.Name)[map[string]string{"codex": "inline", "opencode": "lines"}[k.Name]+map[bool]string{true: "usual"}[k.Name != "codex" && k.Name != "opencode"]])
		}
	}
	before := b.tree()
	if plan := b.wrap(); !plan.Nothing() || len(plan.Agents) > 0 {
		t.Errorf("without its name: %v", plan.Changes)
	}
	named := *b
	named.Projects = []string{project}
	named.apply(named.wrap())
	for _, path := range paths {
		if !strings.Contains(b.read(path), testProgram) {
			t.Errorf("%s is as it was", path)
		}
	}
	if b.direct() != 0 || len(b.Servers()) != 6 {
		t.Errorf("%d clients, %d servers direct", len(b.Servers()), b.direct())
	}
	// Changing the person's hooks meanwhile makes no difference.
	b.have("codex")
	b.apply(b.protect("codex"))
	b.apply(b.unprotect("codex"))
	b.apply(b.unwrap())
	if err := os.Remove(filepath.Join(b.env["HOME"], ".codex")); err != nil {
		t.Error(err)
	}
	b.like(before, "given back")
	b.forgotten("given back")
}

// The plan lists the servers that are not behind the gateway, and says why.
func TestServersThatAreNotCovered(t *testing.T) {
	b := newBench(t)
	b.Program, b.Gateway = testProgram, []string{"--socket", "/run/user/1000/floodmark/hook.sock"}
	b.write(filepath.Join(b.env["HOME"], ".gemini/settings.json"), `{"mcp": {"serverCommand": "run it"}, "mcpServers": {
		"local": {"command": "x"}, "web": {"httpUrl": "https://mcp.example/"}, "both": {"command": "x", "url": "https://mcp.example/"}, "none": {}, "list": []}}`)
	plan := b.wrap("gemini-cli")
	got := map[string]Path{}
	for _, u := range plan.Uncovered {
		if u.Why == "" || u.File == "" || u.Title != "Gemini CLI" {
			t.Errorf("%+v", u)
		}
		got[u.Server.Name] = u.Path
	}
	want := map[string]Path{"web": Remote, "both": Remote, "none": Unknown, "list": Unknown, "mcp.serverCommand": Unknown}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b.apply(plan)
	if n := strings.Count(b.read(filepath.Join(b.env["HOME"], ".gemini/settings.json")), testProgram); n != 2 {
		t.Errorf("%d entries call the gateway", n) // local, and both
	}
}

// If a file cannot be changed, the error says why, and no file is changed.
func TestServersThatCannotBeChanged(t *testing.T) {
	b := everyClient(t)
	path := filepath.Join(b.env["HOME"], ".cursor", "mcp.json")
	b.write(path, "{\n \"mcpServers\": {\n")
	before := b.tree()
	_, err := b.ProtectServers(t.Context())
	if wrong, is := errors.AsType[*FileError](err); !is || wrong.Path != path || wrong.Hint == "" {
		t.Errorf("got %v", err)
	}
	for _, c := range b.Servers() {
		if (c.Why != "") != (c.Name == "cursor") {
			t.Errorf("%s: %s", c.Name, c.Why)
		}
	}
	b.like(before, "torn")
	for _, names := range [][]string{{"pi"}, {"nobody"}} {
		if _, err := b.ProtectServers(t.Context(), names...); !errors.Is(err, ErrNoClient) {
			t.Errorf("%v: got %v", names, err)
		}
		if _, err := b.UnprotectServers(t.Context(), names...); !errors.Is(err, ErrNoClient) {
			t.Errorf("%v: got %v", names, err)
		}
	}
	if _, err := newBench(t).ProtectServers(t.Context(), "vscode"); err == nil {
		t.Error("the place of our program is not known, and it was planned")
	}
	empty := newBench(t)
	empty.Program = testProgram
	if _, err := empty.ProtectServers(t.Context(), "vscode"); err == nil || !strings.Contains(err.Error(), "mcp.json") {
		t.Errorf("got %v", err)
	}
	if plan := empty.wrap(); !plan.Nothing() || len(plan.Agents) > 0 {
		t.Error("nothing is there, and something would change")
	}
	empty.System = true
	if _, err := empty.ProtectServers(t.Context()); err == nil {
		t.Error("for the whole machine")
	}
}

// An unreadable file that we never changed does not keep others from being restored. One with our
// name in it does: its effect is unknown.
func TestOthersTornFilesKeepNothingBack(t *testing.T) {
	b := newBench(t)
	b.Program, b.Gateway = testProgram, []string{"--socket", "/s"}
	torn, good := filepath.Join(b.env["HOME"], ".cursor", "mcp.json"), filepath.Join(b.env["HOME"], ".claude.json")
	b.write(good, nastyServers("claude-code")["usual"])
	b.apply(b.wrap("claude-code"))
	for name, text := range map[string]string{"torn": "{ \"mcpServers\": {", "large": strings.Repeat(" ", maxSettings+1)} {
		b.write(torn, text)
		for _, plan := range []*Plan{b.unwrap(), b.unprotect()} {
			if len(plan.Changes) != 1 || len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], torn) {
				t.Errorf("%s: %d changes, %q", name, len(plan.Changes), plan.Notes)
			}
		}
	}
	b.write(torn, "{ \"mcpServers\": { \"a\": { \"command\": \"/usr/bin/floodmark\"")
	if _, err := b.Unprotect(t.Context()); err == nil {
		t.Error("what may be ours was passed over")
	}
	b.write(torn, "{")
	b.apply(b.unprotect())
	if got := b.read(good); got != nastyServers("claude-code")["usual"] {
		t.Errorf("got %s", got)
	}
}
