package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

const eventTool = `tools:
  - {server: s, tool: t, own: true, effect: send, returns: {trust: local, secrecy: private}, args: {who: {role: critical, is: name}},
     ownPlace: {only: [title, cal=mine, start.day], account: [who]}}
`

func TestOwnPlaceIsAClosedList(t *testing.T) {
	f, err := Parse("x.yaml", []byte(eventTool))
	if err != nil {
		t.Fatal(err)
	}
	c := New([]*File{f}, nil)
	for args, own := range map[string]bool{
		`{"title":"Lunch","start":{"day":"Friday"}}`:        true,
		`{"title":"Lunch","cal":"mine","note":"","x":null}`: true,
		`{"title":"Lunch","who":"me@own.example"}`:          true, // whose it is, the kernel says
		`{}`:                               false,
		`{"title":"Lunch","cal":"theirs"}`: false,
		`{"title":"Lunch","note":"x"}`:     false,
		`{"title":"Lunch","note":false}`:   false,
		`{"title":"Lunch","start":{"day":"Friday","guest":"x"}}`: false,
		`{"title":["Lunch"]}`:              false,
		`{"title":{"x":"Lunch"}}`:          false,
		`{"title":"with x@evil.example"}`:  false,
		`{"title":"HTTPS://evil.example"}`: false,
		`{"title":"<img src=x>"}`:          false,
	} {
		leaves, err := hook.Call{Name: "t", Args: []byte(args)}.Leaves()
		if err != nil {
			t.Fatal(err)
		}
		u := c.Classify(floodmark.ToolRef{Server: "s", Name: "t"}, leaves, nil, Places{})
		if got := slices.Equal(u.Effects, []floodmark.Effect{floodmark.Write}); got != own {
			t.Errorf("%s: %v", args, u.Effects)
		}
		for trust, other := range map[floodmark.Trust]bool{floodmark.External: true, floodmark.Local: false} {
			who := []floodmark.Argument{{Path: "who", Shown: "me", Whence: floodmark.Seen, Trust: trust}}
			v := u
			if got := v.Settle(v.Effects, who); own && slices.Contains(got, floodmark.Send) != other {
				t.Errorf("%s: an account seen at %v: %v", args, trust, got)
			}
		}
	}
}

func TestOwnPlaceNeedsAnOwner(t *testing.T) {
	for _, text := range []string{strings.Replace(eventTool, "own: true, ", "", 1), strings.Replace(eventTool, "only: [title, cal=mine, start.day], ", "", 1)} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "no place of the owner") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAttaches(t *testing.T) {
	const tool = "tools: [{server: s, tool: t, effect: send, returns: {trust: local, secrecy: private}, attaches: \"%\", args: {text: {role: content, is: text}}}]\n"
	if _, err := Parse("x.yaml", []byte(strings.Replace(tool, "%", strings.Repeat("a", filenames.MaxWord+1), 1))); err == nil {
		t.Error("a word that is too long was read")
	}
	f, err := Parse("x.yaml", []byte(strings.Replace(tool, "%", "With:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	ref, c := floodmark.ToolRef{Server: "s", Name: "t"}, New([]*File{f}, nil)
	if !c.LooksAt(ref, "text") {
		t.Error("nobody looks at a text that sends files")
	}
	u := c.Classify(ref, []hook.Leaf{{Path: "text", Top: "text", Value: "WITH: keys/id_rsa"}}, nil, Places{})
	if !slices.Equal(u.URLs, []string{"keys/id_rsa"}) {
		t.Errorf("%q", u.URLs)
	}
}
