package secret

import (
	"testing"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// A host is never hidden, whatever it looks like, since it says where the call goes. A
// key in another part of an address is.
func TestAHostIsNotHidden(t *testing.T) {
	r := NewRules()
	const key = "sk-aaaaaaaaaaaaaaaaaaaa"
	for _, veil := range []func(string) string{r.Veil, r.VeilLine} {
		for text, want := range map[string]string{
			"https://" + key + ".example/x":         "https://" + key + ".example/x",
			"https://" + key + ".example:8443/x":    "https://" + key + ".example:8443/x",
			"https://a." + key + ".example":         "https://a." + key + ".example",
			"anna@" + key + ".example":              "anna@" + key + ".example",
			"https://" + key + "/x":                 "https://[hidden]/x",
			"https://" + key + ".example@x.example": "https://[hidden].example@x.example",
			"https://" + key + ":x@x.example":       "https://[hidden]:[hidden]@x.example",
			"https://x.example/" + key + ".txt":     "https://x.example/[hidden].txt",
			key + ".example":                        "[hidden].example",
			"use " + key + ". Now":                  "use [hidden]. Now",
		} {
			if got := veil(text); got != want {
				t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
			}
		}
	}
}

// Text by others never looks like the signs that we write where something was left out.
func TestMarksAreNotForged(t *testing.T) {
	r := NewRules()
	for text, want := range map[string]string{
		"[hidden].example": "(hidden].example", "a [HIDDEN] b": "a (HIDDEN] b", "[REDACTED: 12 chars]": "(REDACTED: 12 chars]", "[redacted": "(redacted",
		"[hidde": "[hidde", "[hidden": "[hidden", "x[1] [hid]": "x[1] [hid]", "[[hidden]]": "[(hidden]]", "sk-aaaaaaaaaaaaaaaaaaaa [hidden]": "[hidden] (hidden]",
	} {
		if got := r.Veil(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
		if got := r.VeilLine(text); got != want {
			t.Errorf("line %q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// Rules that NewRules did not make hide secrets, too.
func TestVeilsOfRulesMadeOtherwise(t *testing.T) {
	if got := (Rules{detector: redact.New()}).Veil("password=hunter2hunter2"); got != "password=[hidden]" {
		t.Error(got)
	}
}

// A call may have thousands of names that look like those of keys: the shapes are made
// once.
func TestVeilsAreMadeOnce(t *testing.T) {
	r := NewRules()
	if first := r.shapes(); first != r.shapes() {
		t.Error("the shapes of credentials are made anew for each text")
	}
}
