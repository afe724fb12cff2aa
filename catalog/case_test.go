package catalog

import (
	"slices"
	"strings"
	"testing"
)

const tellTool = `
agent: pi
tools:
  - tool: tell
    effect: send
    returns: {trust: local, secrecy: internal}
    args:
      url: {role: critical, is: url}
      action: {role: critical, is: flag}
      note: {role: critical, is: text}
      path: {role: critical, is: path}
      line: {role: critical, is: command}
    when:
      - {arg: action, in: [list], effect: observe}
      - {arg: action, in: [read, 7, true], effect: [fetch, write], returns: {trust: external}, licence: [look]}
      - {arg: url, host: ["*.example.com", a.test], returns: {trust: shared, secrecy: public}, licence: [tell, ask]}
      - {arg: path, path: ["**/*.PEM", "~/x/**", "/etc/y"], returns: {trust: path, secrecy: path}}
      - {arg: line, command: ["git push *", ls], selfProtected: true}
      - {arg: note, sql: read, effect: fetch}
      - {arg: url, given: true, selfProtected: false, returns: {secrecy: private}}
`

func TestCasesInWords(t *testing.T) {
	p := parse(t, tellTool).Profiles()[0]
	var got []string
	for _, c := range p.Cases() {
		got = append(got, c.String())
	}
	want := []string{
		"action is list: observe",
		"action is read, 7 or true: fetch, write; returns external; asked for with look",
		"url is at *.example.com or a.test: returns shared, public; asked for with tell or ask",
		"path lies in **/*.PEM, ~/x/** or /etc/y: returns trust by path, secrecy by path",
		"line begins with git push or ls: touches the monitor",
		"note is one plain SQL statement that reads: fetch",
		"url is given: returns private; leaves the monitor alone",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if c := (Case{When: "x is y"}); c.String() != "x is y: " {
		t.Errorf("%q", c)
	}
}

// A profile returns copies: changing them does not change it.
func TestProfilesTellWhatTheyHold(t *testing.T) {
	f := parse(t, `
server: [mail, post]
own: true
tools:
  - {tool: [read, "list*"], about: reads, effect: [fetch, write], returns: {trust: external, secrecy: private}, remote: true,
     args: {z: {role: critical, is: id}, a: {role: content, is: text}}}
`)
	if f.Name() != "test.yaml" || len(f.Warnings()) != 0 {
		t.Errorf("%s: %v", f.Name(), f.Warnings())
	}
	for range 2 {
		p := f.Profiles()[0]
		if !slices.Equal(p.Tools(), []string{"read", "list*"}) || !slices.Equal(p.Servers(), []string{"mail", "post"}) || p.Agents() != nil ||
			p.About() != "reads" || !slices.Equal(p.Effects(), effects(fetch, write)) || !p.Own() || !p.Remote() || !slices.Equal(p.ArgNames(), []string{"z", "a"}) {
			t.Fatalf("%+v", p)
		}
		if a, ok := p.Arg("z"); !ok || a.Is != IsID {
			t.Errorf("z: %+v %v", a, ok)
		}
		if a, ok := p.Arg("y"); ok || a != (Arg{}) {
			t.Errorf("y: %+v %v", a, ok)
		}
		p.Tools()[0], p.Servers()[0], p.Effects()[0], p.ArgNames()[0] = "x", "x", observe, "x"
		f.Profiles()[0] = nil
	}
	p := parse(t, tellTool).Profiles()[0]
	if !slices.Equal(p.Agents(), []string{"pi"}) || p.Servers() != nil || p.Own() || p.Remote() || p.Pays() || p.About() != "" {
		t.Errorf("%+v", p)
	}
	if p := parse(t, strings.Replace(minimal, "effect: fetch", "effect: [fetch, send]\n    pays: true", 1)).Profiles()[0]; !p.Pays() {
		t.Error("it pays")
	}
	if p := parse(t, strings.Replace(minimal, "effect: fetch", "effect: fetch\n    pays: false", 1)).Profiles()[0]; p.Pays() {
		t.Error("it does not pay")
	}
	p.Cases()[0].Effects[0] = admin
	if p.Cases()[0].Effects[0] != observe {
		t.Error("a case was changed from outside")
	}
}

func TestProfilesOfACatalog(t *testing.T) {
	below := New([]*File{parse(t, minimal)}, nil)
	user := parse(t, tellTool)
	got := New([]*File{user}, below).Profiles()
	if len(got) != 2 || got[0] != user.Profiles()[0] || got[1].Tools()[0] != "read" {
		t.Errorf("%v", got)
	}
	if n := len(New(nil, below).Profiles()); n != 1 {
		t.Errorf("%d profiles without the user's", n)
	}
}
