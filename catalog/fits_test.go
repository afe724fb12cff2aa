package catalog

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// oneTool returns a catalog with one tool of pi, called t.
func oneTool(t *testing.T, body string) *Catalog {
	t.Helper()
	return New([]*File{parse(t, "agent: pi\npaths: {secret: [\"**/key\"], instructs: [\"**/AGENTS.md\"], selfProtected: [\"**/.mon/conf\"], foreign: [\"/tmp/**\", \"**/vendor/**\"]}\n"+
		"tools:\n  - tool: t\n"+body)}, nil)
}

const returnsLocal = "    returns: {trust: local, secrecy: internal}\n"

func inWords(list []floodmark.Effect) string {
	words := make([]string, len(list))
	for i, e := range list {
		words[i] = e.String()
	}
	return strings.Join(words, " ")
}

// A fitCase is one value held against one test.
type fitCase struct {
	test  *test
	value string
	want  fit
}

// fitCases has one value for every result of a test.
func fitCases(word, host, path, command, given *test) []fitCase {
	return []fitCase{
		{word, "read", wholly},
		{word, "List", wholly},
		{word, "LIST", partly},
		{word, " read\n", partly},
		{word, "reads", never},
		{word, "", never},
		{host, "https://a.test/", wholly},
		{host, "https://x.b.test/", wholly},
		{host, "a.test", partly},
		{host, "https://u@a.test/", partly},
		{host, "https://b.test/", never},
		{host, "", never},
		{path, "/srv", wholly},
		{path, "/srv/a", wholly},
		{path, "/Srv/a", partly},
		{path, "/etc/../srv/a", wholly},
		{path, "~/Docs/a", wholly},
		{path, "~/docs/a", partly},
		{path, "/home/u/Docs/a", wholly},
		{path, "/home/v/Docs", wholly},
		{path, "/Docs/a", never},
		{path, "q/x.Txt", wholly},
		{path, "x.txt", partly},
		{path, "x.txt/y", never},
		{path, "srv/a", never},
		{path, "", never},
		{path, "/srv/" + strings.Repeat("a", MaxPathBytes-5), wholly},
		{path, "/srv/" + strings.Repeat("a", MaxPathBytes-4), never},
		{command, "git push", wholly},
		{command, "git push x", wholly},
		{command, "ls -la", wholly},
		{command, "git", never},
		{command, "git pull", never},
		{command, "lsx", never},
		{command, "", never},
		{command, "git push; rm x", partly},
		{command, "rm x && 'ls'", partly},
		{command, "rm x; rm y", never},
		{given, "x", wholly},
		{given, "1", wholly},
		{given, "true", wholly},
		{given, "00", wholly},
		{given, "", never},
		{given, "0", never},
		{given, "false", never},
		{given, "null", never},
	}
}

// Each kind of test fits wholly, partly or never. A case that fits partly may only tighten.
func TestHowFarATestHolds(t *testing.T) {
	var globs []glob
	for _, text := range []string{"/srv/**", "~/Docs/**", "**/x.Txt"} {
		g, err := parseGlob(text)
		if err != nil {
			t.Fatal(err)
		}
		globs = append(globs, g)
	}
	word := test{in: []string{"read", "List"}}
	host := test{hosts: []string{"a.test", "*.b.test"}}
	path := test{globs: globs}
	command := test{commands: [][]string{{"git", "push"}, {"ls"}}}
	given := test{given: true}
	for _, tc := range fitCases(&word, &host, &path, &command, &given) {
		if got := tc.test.value(tc.value, here()); got != tc.want {
			t.Errorf("%s %.40q: %d, want %d", tc.test.words(), tc.value, got, tc.want)
		}
	}
}

// The first case that fits wholly ends the search; earlier ones that fit partly only add.
func TestOrderOfCases(t *testing.T) {
	c := oneTool(t, `    effect: write
    returns: {trust: shared, secrecy: public}
    licence: [plain]
    args: {a: {role: critical, is: flag}, b: {role: critical, is: flag}, c: {role: critical, is: command}}
    when:
      - {arg: a, in: [x], effect: send}
      - {arg: a, in: [y], effect: fetch, returns: {trust: external}, licence: [look]}
      - {arg: b, in: [x], effect: observe}
      - {arg: b, in: [z], returns: {secrecy: private}, selfProtected: true}
      - {arg: b, in: [z], effect: admin}
      - {arg: c, command: [known], effect: change}
`)
	for _, tc := range []struct {
		leaves                  []hook.Leaf
		effects, label, licence string
		self                    bool
	}{
		{nil, "write", "shared/public", "plain", false},
		{args("a", "x"), "send", "shared/public", "plain", false},
		{args("a", "x", "b", "x"), "send", "shared/public", "plain", false},
		{args("a", "y"), "fetch", "external/public", "look", false},
		{args("a", "X"), "write send", "shared/public", "plain", false},
		{args("a", "Y"), "write fetch", "external/public", "plain", false},
		{args("a", "Y", "b", "x"), "observe", "external/public", "plain", false},
		{args("b", "z"), "write admin", "shared/private", "plain", true},
		{args("b", "Z"), "write admin", "shared/private", "plain", true},
		{args("c", "known x"), "change", "shared/public", "plain", false},
	} {
		u := c.Classify(builtin("pi", "t"), tc.leaves, nil, here())
		if inWords(u.Effects) != tc.effects || u.Returns.String() != tc.label || strings.Join(u.Licence, " ") != tc.licence || u.SelfProtected != tc.self {
			t.Errorf("%v: %v %s %v %v, want %+v", tc.leaves, u.Effects, u.Returns, u.Licence, u.SelfProtected, tc)
		}
	}
}

// Each claim of a server tightens exactly what it is about.
func TestHintsOnEachEffect(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		effect string
		hints  hook.Hints
		want   string
		net    bool
	}{
		{"observe", hook.Hints{ReadOnly: &no}, "observe change", false},
		{"fetch", hook.Hints{ReadOnly: &no}, "fetch change", true},
		{"fetch", hook.Hints{ReadOnly: &no, Destructive: &no}, "fetch write", true},
		{"fetch", hook.Hints{ReadOnly: &no, Destructive: &yes}, "fetch change", true},
		{"write", hook.Hints{ReadOnly: &no}, "write", false},
		{"fetch", hook.Hints{ReadOnly: &yes}, "fetch", true},
		{"write", hook.Hints{Destructive: &yes}, "write change", false},
		{"change", hook.Hints{Destructive: &yes}, "change", false},
		{"send", hook.Hints{Destructive: &yes}, "send", true},
		{"write", hook.Hints{Destructive: &no}, "write", false},
		{"observe", hook.Hints{OpenWorld: &yes}, "observe fetch", true},
		{"write", hook.Hints{OpenWorld: &yes}, "write", true},
		{"observe", hook.Hints{OpenWorld: &no}, "observe", false},
	} {
		c := oneTool(t, "    effect: "+tc.effect+"\n"+returnsLocal)
		if u := c.Classify(builtin("pi", "t"), nil, &tc.hints, here()); inWords(u.Effects) != tc.want || u.Network != tc.net {
			t.Errorf("%s with %+v: %v %v, want %s", tc.effect, tc.hints, u.Effects, u.Network, tc.want)
		}
	}
}
