package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// A dotfiles manager's link stays a link, and what is behind it changes.
func TestLinksAreFollowed(t *testing.T) {
	b := newBench(t)
	path := b.have("gemini-cli")[0].path
	real := filepath.Join(b.env["HOME"], "dotfiles", "gemini.json")
	b.write(real, "{ \"a\": 1 }\n")
	if err := errors.Join(os.Symlink("../dotfiles/gemini.json", path+".2"), os.Symlink(path+".2", path), os.Chmod(real, 0o640)); err != nil {
		t.Fatal(err)
	}
	before := b.tree()
	b.apply(b.protect())
	if !strings.Contains(b.read(real), hookName) {
		t.Error("the file behind the link is as it was")
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	b.apply(b.unprotect())
	b.like(before, "with links")
	// A link to nothing yet makes the file behind it.
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	before = b.tree()
	b.apply(b.protect())
	if !strings.Contains(b.read(real), hookName) {
		t.Error("the file behind the link was not made")
	}
	b.apply(b.unprotect())
	b.like(before, "with a link to nothing")
}

// What keeps a file from being changed is said with its name and line, and
// nothing is changed at all, not even files of other agents.
func TestNothingIsChangedUnlessAllCanBe(t *testing.T) {
	deep := strings.Repeat(`{"a":`, maxNesting+1) + "1" + strings.Repeat("}", maxNesting+1)
	big := `{"a": "` + strings.Repeat("x", maxSettings) + `"}`
	for name, c := range map[string]struct {
		agent      string
		file       int
		text, want string
	}{
		"torn":          {"gemini-cli", 0, "{\n  \"a\": [\n", "settings.json:2: it is not JSON"},
		"no object":     {"gemini-cli", 0, "\n[]", "settings.json:2: it does not hold an object"},
		"other hooks":   {"gemini-cli", 0, "{\n\n\"hooks\": \"none\"}", "settings.json:3: «hooks» holds something else"},
		"other event":   {"gemini-cli", 0, "{\"hooks\": {\"BeforeTool\": {}}}", "settings.json:1: «hooks.BeforeTool» holds something else"},
		"deep":          {"gemini-cli", 0, deep, "nested more than"},
		"large":         {"gemini-cli", 0, big, "larger than"},
		"with ours":     {"gemini-cli", 0, `{"a": "` + strings.Repeat("x", maxSettings-9) + `"}`, "it would be larger than"},
		"comments":      {"codex", 0, "{\n// mine\n}", "hooks.json:2: the agent reads plain JSON"},
		"no TOML":       {"codex", 1, "a = 1\nb = \n", "config.toml:2: it is not TOML"},
		"twice":         {"codex", 1, "a = 1\na = 2\n", "config.toml:2: it is not TOML"},
		"one line":      {"codex", 1, "x = 1\nfeatures = { a = true }\n", "config.toml:2: «features» is a table in one line"},
		"set in line":   {"codex", 1, "features = { unified_exec_tty = true }\n", "config.toml:1: «features» is a table in one line"},
		"several lines": {"codex", 1, "web_search = \"\"\"\nx\"\"\"\n", "config.toml:1: «web_search» goes over several lines"},
		"plugins off":   {"openclaw", 4, "{\"plugins\": {\n\"enabled\": false}}", "openclaw.json:2: plugins are switched off"},
		"JSON5":         {"openclaw", 4, "{\n plugins: {}}", "openclaw.json:2: it is not JSON"},
		"not ours":      {"pi", 0, "// an extension of mine\n", "floodmark.ts: it is there and not ours"},
		"folder":        {"pi", 0, "(folder)", "floodmark.ts: it is not a plain file"},
		"read-only":     {"gemini-cli", 0, "(read-only)", "settings.json: it is read-only"},
		"links":         {"gemini-cli", 0, "(links)", "settings.json: the links lead nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && len(c.text) > maxSettings/2 {
				t.Skip("megabytes, which the race detector takes minutes for")
			}
			b := newBench(t)
			b.have("copilot-cli")
			path := b.have(c.agent)[c.file].path
			b.lies(t, path, c.text)
			before := b.tree()
			_, err := b.Protect(t.Context())
			wrong, is := errors.AsType[*FileError](err)
			if !is || !strings.Contains(wrong.Error(), c.want) || wrong.Hint == "" {
				t.Errorf("got %v, want %q and a hint", err, c.want)
			}
			b.like(before, name)
			if _, err := os.Stat(b.Records); err == nil {
				t.Error("something was recorded")
			}
		})
	}
}

// lies puts a file, or what a word in brackets says, at a path.
func (b *bench) lies(t *testing.T, path, text string) {
	t.Helper()
	switch text {
	case "(folder)":
		b.write(filepath.Join(path, "x"), "")
	case "(links)":
		if err := os.Symlink(path, path); err != nil {
			t.Fatal(err)
		}
	case "(read-only)":
		b.write(path, "{}")
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
	default:
		b.write(path, text)
	}
}

// What is just within the limits is changed.
func TestWithinTheLimits(t *testing.T) {
	for name, text := range map[string]string{
		"deep":  strings.Repeat(`{"a":`, maxNesting) + "1" + strings.Repeat("}", maxNesting),
		"large": `{"a": "` + strings.Repeat("x", maxSettings-20_000) + `"}`,
	} {
		if testing.Short() && len(text) > maxSettings/2 {
			continue // megabytes, which the race detector takes minutes for
		}
		b := newBench(t)
		b.write(b.have("gemini-cli")[0].path, text)
		before := b.tree()
		b.apply(b.protect())
		if b.state("gemini-cli") == Open {
			t.Errorf("%s: not protected", name)
		}
		b.apply(b.unprotect())
		b.like(before, name)
	}
}

// Agents are found where their variables say, and by their programs.
func TestFinding(t *testing.T) {
	b := newBench(t)
	if list := b.List(t.Context()); len(list) != 0 {
		t.Errorf("found %v in an empty home", list)
	}
	elsewhere := filepath.Join(b.Root, "elsewhere")
	b.env["CODEX_HOME"], b.env["COPILOT_HOME"], b.env["GEMINI_CLI_HOME"] = elsewhere+"/c", elsewhere+"/p", elsewhere+"/g"
	b.env["CLAUDE_CONFIG_DIR"], b.env["XDG_CONFIG_HOME"], b.env["PI_CODING_AGENT_DIR"] = elsewhere+"/a", elsewhere+"/x", "~/pi"
	for agent, want := range map[string]string{
		"codex": elsewhere + "/c/hooks.json", "copilot-cli": elsewhere + "/p/hooks/floodmark.json", "gemini-cli": elsewhere + "/g/.gemini/settings.json",
		"claude-code": elsewhere + "/a/settings.json", "opencode": elsewhere + "/x/opencode/plugins/floodmark.ts",
		"openclaw": b.env["HOME"] + "/.openclaw/extensions/floodmark/index.ts",
		"pi":       b.env["HOME"] + "/pi/extensions/floodmark.ts", "cursor": b.env["HOME"] + "/.cursor/hooks.json",
	} {
		if got := b.have(agent)[0].path; got != want {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
		if f, there, err := b.Find(t.Context(), agent); err != nil || !there || f.State != Open {
			t.Errorf("%s: %+v, %v, %v", agent, f, there, err)
		}
	}
	b.env["CODEX_HOME"] = "relative"
	if f, _, _ := b.Find(t.Context(), "codex"); f.State == Protected {
		t.Error("a relative folder is taken")
	}
	if _, _, err := b.Find(t.Context(), "nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

// A version comes from the package, the folder, or the program itself.
func TestVersions(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		target string
		want   string
	}{
		"package":  {map[string]string{"lib/node_modules/@openai/codex/package.json": `{"name":"@openai/codex","version":"0.166.0"}`, "lib/node_modules/@openai/codex/bin/codex.js": "#!/bin/sh\necho wrong 9.9"}, "lib/node_modules/@openai/codex/bin/codex.js", "0.166.0"},
		"another":  {map[string]string{"x/package.json": `{"name":"theirs","version":"7.0.0"}`, "x/codex": "#!/bin/sh\necho codex-cli 0.170.1-alpha.2"}, "x/codex", "0.170.1-alpha.2"},
		"versions": {map[string]string{"share/versions/2.1.240/codex": "#!/bin/sh\nexit 1"}, "share/versions/2.1.240/codex", "2.1.240"},
		"silent":   {map[string]string{"x/codex": "#!/bin/sh\nexit 1"}, "x/codex", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for path, text := range c.files {
				b.write(filepath.Join(b.Root, path), text)
			}
			target := filepath.Join(b.Root, c.target)
			b.env["PATH"] += ":/bin"
			if err := errors.Join(os.Chmod(target, 0o700), os.Symlink(target, filepath.Join(b.Root, "bin", "codex"))); err != nil {
				t.Fatal(err)
			}
			f, there, err := b.Find(t.Context(), "codex")
			if err != nil || !there || f.Version != c.want {
				t.Errorf("got %q, %v, %v; want %q", f.Version, there, err, c.want)
			}
		})
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"1.2.3", "1.2.3", false}, {"1.2.10", "1.2.9", true}, {"1.2", "1.2.0", false}, {"2", "1.9.9", true}, {"1.0-beta", "1.0", false}, {"", "1", false}, {"1.0.1", "1.0", true}} {
		if got := Newer(c.a, c.b); got != c.want {
			t.Errorf("Newer(%q, %q) is %v", c.a, c.b, got)
		}
	}
}

// The settings for the whole machine are other files, and need no trust.
func TestSystem(t *testing.T) {
	b := newBench(t)
	b.System = true
	if p := b.protect(); !p.Nothing() {
		t.Errorf("nobody is here, and yet %s", paths(p))
	}
	etc := filepath.Join(b.Root, "etc")
	b.write(etc+"/claude-code/managed-settings.json", "{ \"permissions\": {} }")
	b.apply(b.protect("codex", "claude-code", "cursor", "gemini-cli"))
	for _, path := range []string{"codex/hooks.json", "codex/config.toml", "claude-code/managed-settings.json", "cursor/hooks.json", "gemini-cli/settings.json"} {
		text := b.read(filepath.Join(etc, path))
		if !strings.Contains(text, "floodmark") || strings.Contains(text, "hooks.state") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if info, err := os.Stat(etc + "/codex/hooks.json"); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("others cannot read it: %v, %v", info, err)
	}
	if _, err := b.Protect(t.Context(), "pi"); err == nil || !strings.Contains(err.Error(), "whole machine") {
		t.Errorf("got %v", err)
	}
	b.apply(b.unprotect())
	if got := b.read(etc + "/claude-code/managed-settings.json"); got != "{ \"permissions\": {} }" {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(etc + "/codex"); err == nil {
		t.Error("a folder of ours is left")
	}
}

// Every file that connects an agent is listed, so that it can be guarded.
func TestPathsAreAllFiles(t *testing.T) {
	b := newBench(t)
	list := strings.Join(b.Paths(), "\n")
	for _, k := range kinds() {
		for _, f := range b.have(k.Name) {
			if !strings.Contains(list, f.path) {
				t.Errorf("%s is not listed", f.path)
			}
		}
	}
}

// What connects an agent is guarded: an agent that writes to it needs a yes.
func TestWhatConnectsIsGuarded(t *testing.T) {
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	home := "/home/u"
	user := Machine{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }, Hook: "/usr/bin/floodmark-hook"}
	system := user
	system.System = true
	for _, path := range append(user.Paths(), system.Paths()...) {
		ref := floodmark.ToolRef{Agent: "openclaw", Name: "write"}
		use := shipped.Classify(ref, []hook.Leaf{{Path: "path", Top: "path", Value: path}}, nil, catalog.Places{Home: home})
		if !use.SelfProtected {
			t.Errorf("%s is not guarded: add it to catalog/data/paths.yaml", path)
		}
	}
}

// An unknown agent is not taken for one that only works on code.
func TestWhichAgentsCode(t *testing.T) {
	for _, a := range append(Agents(), Agent{Name: "another"}, Agent{}) {
		if want := a.Title != "" && a.Name != "openclaw"; a.Codes() != want {
			t.Errorf("%q: %v", a.Name, a.Codes())
		}
	}
}
