package protect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent whose hooks are in its settings but switched off is not protected. It can still be
// unprotected.
func TestSwitchedOffIsNotProtected(t *testing.T) {
	const off = "hooks are switched off there"
	for agent, list := range map[string]map[string]bool{
		"claude-code": {
			`"disableAllHooks": true`:                            true,
			`"disableAllHooks": false`:                           false,
			`"disableAllHooks": null`:                            false,
			`"disableAllHooks": false, "disableAllHooks": true`:  true,
			`"other": {"disableAllHooks": true}`:                 false,
			`"\u0064isableAllHooks": true`:                       true,
			`"disableAllHooks": true, "disableAllHooks" : false`: false,
		},
		"copilot-cli": {`"disableAllHooks": true`: true, `"disableAllHooks": false`: false},
		"gemini-cli": {
			`"hooksConfig": {"enabled": false}`:               true,
			`"hooksConfig": {"enabled": true}`:                false,
			`"hooksConfig": {"disabled": ["floodmark"]}`:      true,
			`"hooksConfig": {"disabled": ["mine", 7, {}]}`:    false,
			`"hooksConfig": {"disabled": []}`:                 false,
			`"hooksConfig": "none"`:                           false,
			`"hooksConfig": {"disabled": ["floodm\u0061rk"]}`: true,
		},
	} {
		for setting, isOff := range list {
			b := newBench(t)
			path := b.have(agent)[0].path
			b.apply(b.protect())
			text := b.read(path)
			b.write(path, strings.Replace(text, "{", "{ "+setting+",", 1))
			f, _, err := b.Find(t.Context(), agent)
			if err != nil || (f.State == Protected) == isOff || strings.Contains(f.Why, off) != isOff {
				t.Errorf("%s with %s is %s, %s, %v", agent, setting, f.State, f.Why, err)
			}
			b.apply(b.unprotect())
			if f, _, _ := b.Find(t.Context(), agent); len(f.Hooks) > 0 {
				t.Errorf("%s with %s cannot be disconnected", agent, setting)
			}
		}
	}
}

// If hooks are switched off, the error names the line, and nothing is changed.
func TestSwitchedOffIsNotOverruled(t *testing.T) {
	b := newBench(t)
	b.have("copilot-cli")
	b.write(b.have("claude-code")[0].path, "{\n\"disableAllHooks\": true}")
	before := b.tree()
	_, err := b.Protect(t.Context())
	if wrong, is := errors.AsType[*FileError](err); !is || wrong.Line != 2 || wrong.Hint == "" {
		t.Errorf("%v", err)
	}
	b.like(before, "switched off")
}

// An agent that loads our code, or whose settings are TOML, is not protected either if its settings
// keep it from loading the hooks or our code.
func TestWhatIsNotLoadedIsNotProtected(t *testing.T) {
	b := newBench(t)
	codex, claw := b.have("codex")[1].path, b.have("openclaw")[4].path
	pi := filepath.Join(filepath.Dir(filepath.Dir(b.have("pi")[0].path)), "settings.json")
	b.apply(b.protect())
	config, settings := b.read(codex), b.read(claw)
	const include = `"$include"`
	for _, c := range []struct {
		agent, path, text string
		off               bool
	}{
		{"codex", codex, "features.hooks = false\n" + config, true},
		{"codex", codex, "features.codex_hooks = false\n" + config, true},
		{"codex", codex, "features.hooks = true\n" + config, false},
		{"openclaw", claw, strings.Replace(settings, include, `"enabled": false, `+include, 1), true},
		{"openclaw", claw, strings.Replace(settings, include, `"enabled": true, `+include, 1), false},
		{"openclaw", claw, strings.Replace(settings, include, `"hooks": {"allowConversationAccess": false}, `+include, 1), true},
		{"openclaw", claw, strings.Replace(settings, `"plugins": {`, `"plugins": { "deny": ["a", "floodmark"],`, 1), true},
		{"openclaw", claw, strings.Replace(settings, `"plugins": {`, `"plugins": { "deny": ["a"],`, 1), false},
		{"pi", pi, `{"extensions": ["-extensions/floodmark.ts"]}`, true},
		{"pi", pi, `{"extensions": ["a.ts", "!extensions/*.ts"]}`, true},
		{"pi", pi, `{"extensions": ["!**"]}`, true},
		{"pi", pi, `{"extensions": ["!extensions/{floodmark,b}.ts"]}`, true},
		{"pi", pi, `{"extensions": ["![a-"]}`, true},
		{"pi", pi, `{"extensions": ["-extensions"]}`, true},
		{"pi", pi, `{`, true},
		{"pi", pi, `{"extensions": ["+extensions/floodmark.ts", "-extensions/other.ts", "!extensions/x*.ts", 7]}`, false},
		{"pi", pi, ``, false},
		{"pi", pi, `{"theme": "dark"}`, false},
	} {
		b.write(c.path, c.text)
		f, _, err := b.Find(t.Context(), c.agent)
		if err != nil || (f.State == Protected) == c.off || c.off == (f.Why == "") {
			t.Errorf("%s with %s is %s, %s, %v", c.agent, c.text, f.State, f.Why, err)
		}
		if _, err := b.Protect(t.Context(), c.agent); (err != nil) != c.off {
			t.Errorf("%s with %s: %v", c.agent, c.text, err)
		}
		b.write(codex, config)
		b.write(claw, settings)
	}
}

// A plan is not applied if a link leads elsewhere since the plan was made.
func TestLinkMovedMeanwhile(t *testing.T) {
	b := newBench(t)
	path := b.have("claude-code")[0].path
	b.write(path+".1", "{}")
	b.write(path+".2", "{}")
	if err := os.Symlink(path+".1", path); err != nil {
		t.Fatal(err)
	}
	plan := b.protect()
	if err := errors.Join(os.Remove(path), os.Symlink(path+".2", path)); err != nil {
		t.Fatal(err)
	}
	before := b.tree()
	if err := plan.Apply(); err == nil || !strings.Contains(err.Error(), ErrMeanwhile.Error()) {
		t.Errorf("%v", err)
	}
	b.like(before, "with a link that was moved")
}
