package protect

import (
	"errors"
	"strings"
	"testing"
)

// An agent whose hooks are all there and switched off is not protected; it can
// still be disconnected.
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

// Who switched hooks off is told the line, and nothing is changed.
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
