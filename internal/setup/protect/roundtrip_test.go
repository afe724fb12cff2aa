package protect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nasty returns unusual settings files as people have them, for the sort of a file.
func nasty(f file) map[string]string {
	switch f.sort {
	case lockPart:
		return map[string]string{
			"empty": "", "object": "{}", "comments": "{ // mine\n  \"model\": \"x\", // y\n}",
			"providers": "{\n  \"enabled_providers\" : [ \"a\" , // first\n    \"b\", ],\r\n \"x\": 1 }",
			"none":      "{\"enabled_providers\": []}",
		}
	case jsonPart:
		list := map[string]string{
			"empty": "", "blank": " \n\n", "object": "{}", "spread": "{\n}\n", "one line": `{"a":1,"hooks":{}}`,
			"tabs":        "{\n\t\"model\": \"x\",\n\t\"list\": [1, 2]\n}",
			"windows":     "{\r\n    \"model\": \"x\"\r\n}\r\n",
			"plugins":     `{"plugins": {"allow": [ "a" ], "entries": {"a": {"enabled": true}}}}`,
			"null":        "{\n  \"hooks\": null\n}\n",
			"no last eol": "{\n  \"x\": {\"y\": [\"<&>\"]}}",
			"odd":         "\n\n   {  \"a\"\n:1 , \"hooks\"  :{ \"Other\" : [ ] }  }  \n\n",
			"others": `{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/mine.sh", "timeout": 5}]}
    ],
    "BeforeTool": [ {"hooks": [{"type": "command", "command": "theirs"}]} ],
    "preToolUse": [{"type": "command", "command": "theirs", "bash": "theirs"}]
  }
}
`,
		}
		if !f.strict {
			list["comments"] = "// mine\n{ // open\n  /* a */ \"model\": \"x\", // why\n  \"hooks\": { // none yet\n  },\n}\n// end"
			list["mark"] = "\ufeff{\n  \"model\": \"x\"\n}\n"
			list["twice"] = `{"hooks": {"a": 1}, "hooks": {}}`
		}
		return list
	case tomlPart:
		return map[string]string{
			"empty": "", "comment": "# mine", "no last eol": "model = \"x\"\n[tools]\na = 1",
			"windows":  "model = \"x\"\r\n\r\n[features]\r\nx = true\r\n",
			"set":      "web_search = \"live\" # I like it\nmodel = \"x\"\n[features]\n  unified_exec_tty   =  true\nother = 1\n",
			"same":     "web_search = \"disabled\"\nfeatures.unified_exec_tty = false\n",
			"table":    "#:schema https://schema.example/c.json\nmodel = \"x\"\n\n[features]# mine\n",
			"dotted":   "features.a = true\nx = \"\"\"\n[features]\nweb_search = 1\n\"\"\"\n",
			"mark":     "\ufeffmodel = \"x\"\n",
			"tables":   "[[x]]\na = [\n  1, # one\n]\n[features.more]\nb = 'c'\n[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
			"sections": "[a]\n[b]",
		}
	}
	return map[string]string{"an older one": "// Floodmark for something, older\n"}
}

// For any file, protect makes the agent protected, a second protect changes nothing, and unprotect
// restores every byte.
func TestProtectThenUnprotectChangesNothing(t *testing.T) {
	for _, k := range kinds() {
		for i, part := range k.parts {
			b := newBench(t)
			for name, text := range nasty(b.have(k.Name)[i]) {
				t.Run(k.Name+"/"+part.name+"/"+name, func(t *testing.T) {
					b := newBench(t)
					files := b.have(k.Name)
					b.write(files[i].path, text)
					roundTrip(t, b, k.Name, strings.Contains(name, "older"))
				})
			}
		}
		t.Run(k.Name+"/nothing", func(t *testing.T) {
			b := newBench(t)
			b.have(k.Name)
			roundTrip(t, b, k.Name, false)
		})
	}
}

func roundTrip(t *testing.T, b *bench, agent string, older bool) {
	t.Helper()
	before := b.tree()
	p := b.protect()
	if len(p.Agents) != 1 || p.Agents[0].Name != agent {
		t.Fatalf("found %v", p.Agents)
	}
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Fatalf("a plan changes files: %s", diff)
	}
	b.apply(p)
	if got := b.state(agent); got != Protected {
		t.Errorf("after protect it is %s: %v", got, b.tree())
	}
	if p := b.protect(); !p.Nothing() {
		t.Errorf("the second time it would change %s", paths(p))
	}
	b.apply(b.unprotect())
	after := b.tree()
	if older {
		return // an older entry of ours was replaced, so the old bytes cannot come back
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("not as it was: %s", diff)
	}
	if p := b.unprotect(); !p.Nothing() {
		t.Errorf("a second unprotect would change %s", paths(p))
	}
	if got := b.state(agent); got != Open {
		t.Errorf("after unprotect it is %s", got)
	}
}

func paths(p *Plan) string {
	var list []string
	for _, c := range p.Changes {
		list = append(list, fmt.Sprintf("%s: %q", c.Path, c.After))
	}
	return strings.Join(list, ", ")
}
