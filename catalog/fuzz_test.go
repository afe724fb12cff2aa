package catalog

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add([]byte("tools: [{tool: x, agent: a, effect: [run, send], when: [{arg: y, in: [1]}]}]"))
	f.Add([]byte("paths: {secret: [\"~/x/**\"]}\ncommands: [{command: ls, effect: observe}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("fuzz.yaml", text)
		if (file == nil) == (err == nil) {
			t.Fatalf("file %v, error %v", file, err)
		}
		if err != nil {
			var problems floodmark.Problems
			if !errors.As(err, &problems) || len(problems) == 0 || len(problems) > MaxProblems || !problems.Failed() {
				t.Fatalf("problems: %v", err)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Text == "" {
					t.Fatalf("problem without a place: %+v", p)
				}
			}
			return
		}
		for _, p := range file.profiles {
			if len(p.effects) == 0 || len(p.tools) == 0 || len(p.agents)+len(p.servers) == 0 {
				t.Fatalf("half a profile: %+v", p)
			}
		}
		New([]*File{file}, nil).Classify(builtin("a", "x"), args("y", "1"), nil, Places{})
	})
}

func FuzzClassify(f *testing.F) {
	c := shipped(f)
	f.Add("openclaw", "", "exec", `{"command":"ls -la"}`, "/p", "/h")
	f.Add("codex", "", "apply_patch", `{"input":"*** Add File: x"}`, "/p", "")
	f.Add("", "github", "issue_write", `{"method":"update","owner":"a"}`, "", "")
	f.Add("openclaw", "", "read", `{"path":"~/../x/%2e%2e/\\y"}`, "/p", "/h/")
	f.Add("pi", "", "bash", "{\"command\":\"a='b'; $(c)\\n<<E\"}", "/", "~")
	f.Add("x", "y", "z", `[1,"file:///%zz"]`, "", "/")
	f.Fuzz(func(t *testing.T, agent, server, name, text, project, home string) {
		ref := floodmark.ToolRef{Agent: agent, Server: server, Name: name}
		leaves, err := hook.Call{Name: name, Args: json.RawMessage(text)}.Leaves()
		if err != nil {
			return
		}
		u := c.Classify(ref, leaves, &hook.Hints{Trust: name}, Places{Project: project, Home: home})
		if len(u.Effects) == 0 || !u.Returns.Valid() || slices.Max(u.Effects) > observe {
			t.Fatalf("%+v", u)
		}
		if _, known := c.Lookup(ref); !known && (!slices.Contains(u.Effects, run) || u.Returns != (floodmark.Label{}) || u.Profile != nil) {
			t.Fatalf("unknown tool: %+v", u)
		}
		if u.SelfProtected && !slices.Contains(u.Effects, admin) {
			t.Fatalf("self-protected without admin: %+v", u)
		}
		again := c.Classify(ref, leaves, &hook.Hints{Trust: name}, Places{Project: project, Home: home})
		if !slices.Equal(u.Effects, again.Effects) || u.Returns != again.Returns {
			t.Fatal("two answers to one question")
		}
	})
}
