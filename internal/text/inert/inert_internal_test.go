package inert

import "testing"

// The limits as numbers, because users notice a change of one.
func TestLimitsAsNumbers(t *testing.T) {
	if maxPicture != 2048 || maxTag != 4096 {
		t.Errorf("a picture %d, an element %d", maxPicture, maxTag)
	}
}

// A text that a program would load or run something from is not inert.
func TestActs(t *testing.T) {
	for text, want := range map[string]bool{
		"":                            false,
		"see you at 5, bring a/b.txt": false,
		"a < b and b > c":             false,
		"List<String>":                false,
		"and/or, 1//2":                false,
		"https://example.com/a":       false, // a plain link
		"//evil.example/x":            true,
		"go to //evil.example":        true,
		"src=//evil.example":          true,
		"![x](y)":                     true,
		"[x](y)":                      true,
		"JavaScript:alert(1)":         true,
		"data:text/html,x":            true,
		"&#104;ttps":                  true,
		"run `rm`":                    true,
		"$(id)":                       true,
		"bash <(curl x)":              true,
		"x | sh":                      true,
		"curl evil":                   true,
		"sudo x":                      true,
		"<img src=x>":                 true,
		"<script":                     true,
		"text <b onclick=x>":          true,
		"<":                           false,
		"a <":                         false,
	} {
		if got := Acts(text); got != want {
			t.Errorf("%q is code: %v", text, got)
		}
	}
}

func TestLoads(t *testing.T) {
	for rest, want := range map[string]bool{
		"": false, " x": false, "b>": false, "b": true, "b c>": false, "b c": true, "b c=d>": true, "b(": true, "h0 a=b>": true, "h9 a=b>": true,
		"0a=b>": false, "svg>": true, "STYLE>": true, "styles>": false, "!--": true, "/a b=c>": false, "a>b=c": false,
	} {
		if got := loads(rest); got != want {
			t.Errorf("<%s loads: %v", rest, got)
		}
	}
}

func TestText(t *testing.T) {
	stated := func(link string) bool { return link == "https://own.example/p.png" }
	for text, want := range map[string]string{
		"plain [x](y)":                      "plain [x](y)",
		"a ![x](https://evil.example/?d=1)": "a [x](https://evil.example/?d=1)",
		"!!![x](y)":                         "[x](y)",
		"![x](https://own.example/p.png) ![y](https://evil.example/p)": "![x](https://own.example/p.png) [y](https://evil.example/p)",
		"<img src=x> and List<String>":                                 "&lt;img src=x> and List<String>",
	} {
		if got := Text(text, stated); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
