package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// wellFormed returns the names of all elements, and fails on anything a reader
// of XML would refuse.
func wellFormed(t *testing.T, text string) map[string]int {
	t.Helper()
	names := map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if el, ok := tok.(xml.StartElement); ok {
			names[el.Name.Local]++
			for _, a := range el.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("attribute %s", a.Name.Local)
				}
			}
		}
	}
}

func TestSVGShowsHostileNamesAndNothingElse(t *testing.T) {
	g := build(t, attack()...)
	svg := g.SVG()
	names := wellFormed(t, svg)
	for _, bad := range []string{"script", "image", "foreignObject", "a", "use", "animate"} {
		if names[bad] > 0 {
			t.Errorf("there is an element %s", bad)
		}
	}
	for _, want := range []string{"web_fetch", "untrusted", `stroke-width="3"`, `url(#red)`} {
		if !strings.Contains(svg, want) {
			t.Errorf("%q is missing", want)
		}
	}
	golden(t, "attack.svg", []byte(svg))
}

func TestSVGSaysWhatItLeavesOut(t *testing.T) {
	facts := []floodmark.Fact{floodmark.SessionOpened{Agent: "a"}, floodmark.TurnOpened{Turn: 1}}
	for n := range maxBoxes + 7 {
		facts = append(facts, seen(n, floodmark.NodeInput, floodmark.Origin{Kind: floodmark.FromFile, Name: fmt.Sprint(n)}, floodmark.Clean()))
	}
	g, err := Build("many", play(facts...))
	if err != nil {
		t.Fatal(err)
	}
	svg := g.SVG()
	wellFormed(t, svg)
	if !strings.Contains(svg, "more are not drawn") {
		t.Error("it does not say that something is missing")
	}
}

func TestSVGOfNothing(t *testing.T) {
	g, err := Build("empty", play(floodmark.SessionOpened{Agent: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, g.SVG())
}
