package tokens

import "testing"

func TestKindsOfTokens(t *testing.T) {
	for text, want := range map[string]string{
		"~bob ~/x ~~y ~-":              "path:~bob path:~/x path:~y",
		"12/2024 a/12 1/2x":            "id:12/2024 path:a/12 path:1/2x",
		"+x +5x $HOME $- #- @- #x @x":  "word:x id:+5x id:$home id:#x id:@x",
		"x% 5x% %d 50%":                "word:x id:5x word:d number:50%",
		":x: -x- 'x' .x. x' x~ x+ x#":  "word:x word:x quoted:x word:x path:.x word:x word:x word:x word:x",
		"x's Bob's 's":                 "word:x name:bob word:s",
		"a.b U.S ab.c a.bc A.b":        "word:a.b name:u.s path:ab.c path:a.bc name:a.b",
		"v1.2 1.2b 1.2.3 ..x ...x":     "id:v1.2 path:1.2b id:1.2.3 path:.x path:.x",
		"./x ../x .../x . ..":          "path:./x path:../x path:../x",
		"a@b a@b.c a@.c a@b. ~a@b.c":   "id:a@b address:a@b.c id:a@.c id:a@b id:~a@b.c",
		"a/b@c.d a@b.c/d x:a@b.c":      "path:a/b@c.d path:a@b.c/d word:x address:a@b.c",
		"a@b..c a@b_c.d a@b.c+d":       "id:a@b..c id:a@b_c.d id:a@b.c+d",
		"a_b a%b A:b é Éa ßa":          "id:a_b id:a%b name:a word:b word:e name:ea word:ßa",
		"Z z [ A a":                    "name:z word:z name:a word:a",
		"To:x 10:30 10:x main.go:12":   "name:to word:x id:10:30 number:10 word:x path:main.go number:12",
		"a.go:x a.de:x a.de:80 b:c:d":  "path:a.go word:x path:a.de word:x path:a.de:80 id:b:c:d",
		"localhost:80 localhost:x x:8": "id:localhost:80 word:localhost word:x word:x number:8",
		"a/b:c 12:34:56 12:34:5x ab:c": "path:a/b:c id:12:34:56 id:12:34:5x word:ab word:c",
	} {
		if got := show(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestDomains(t *testing.T) {
	for s, want := range map[string]bool{
		"a.b": true, "a-b.c": true, "a.b.c": true, "": false, "a": false, ".": false, ".a": false, "a.": false, "a..b": false,
		"a_b.c": false, "a@b.c": false, "a.b/c": false, "a.b:1": false, "a'b.c": false,
	} {
		if isDomain(s) != want {
			t.Errorf("%q is a domain: %v", s, !want)
		}
	}
}

func TestWhereRunsAreSplit(t *testing.T) {
	for run, want := range map[string]int{
		"abc": 3, ":x": 0, ":80": 3, "a:": 1, "To:a": 2, "10:30": 5, "10:x": 2, "1:": 1, "main.go:12": 7, "main.go:x": 7, "main.go:": 7,
		"localhost:80": 12, "localhost:": 9, "localhost:x": 9, "a.de:443": 8, "a.de:": 4, "a.de:x": 4, "a/b:c": 5, "a@b:c": 5,
		"fe80::1": 7, "ab:cd": 2, "ab:cd:ef": 8, "ab:cd:xy": 2, "x/main.go:12": 9,
	} {
		if got := splitAt(run); got != want {
			t.Errorf("%s is split at %d, want %d", run, got, want)
		}
	}
}

func TestSchemes(t *testing.T) {
	for s, want := range map[string]int{"": 0, "http": 0, "s3+ssh": 0, "x-y": 0, "9http": 1, "-http": 1, "+": 1, "99": 2, "a/http": 2, "éhttp": 2} {
		if got := schemeStart(s); got != want {
			t.Errorf("the scheme of %q begins at %d, want %d", s, got, want)
		}
	}
}

func TestWhereURLsEnd(t *testing.T) {
	const url = "http://a"
	for rest, more := range map[string]int{
		"": 0, "b": 1, " b": 0, "\x7fb": 0, "\nb": 0, `"b`: 0, "<b": 0, ">b": 0, "{b": 0, "}b": 0, "|b": 0, `\b`: 0, "^b": 0, "`b": 0,
		"(b)c": 4, ")b": 0, "[b]c": 4, "]b": 0, "((b)c": 5, "(b))c": 3, "(": 0, "()": 2, ",b": 2, ",http://b": 0, "!b": 2, "!": 0,
		".,;:!?'*_~": 0, "é/b": 4, "e\u0301/b": 5, "٣/b": 4, "🎉b": 0, "”b": 0, "谢b": 4, "\x80b": 0,
	} {
		if got := urlEnd(url + rest); got != len(url)+more {
			t.Errorf("%q: %d bytes of the rest, want %d", rest, got-len(url), more)
		}
	}
}

func TestWindowsPaths(t *testing.T) {
	for s, want := range map[string]int{`C:\a\b`: 6, `C:\a b`: 4, `C:\a.`: 4, `C:\a,b`: 4, `C:\a)`: 4, ``: 1, `.`: 1, `C:\a"`: 4} {
		if got := windowsEnd(s); got != want {
			t.Errorf("%s ends at %d, want %d", s, got, want)
		}
	}
	for text, want := range map[string]string{
		`C:\x`: `path:c:\x`, `CC:\x`: `name:cc word:x`, `9:\x`: `number:9 word:x`, `C:x`: `name:c word:x`, `C: \x`: `name:c word:x`,
		`\\srv\x`: `path:\\srv\x`, `a\\srv`: `word:a word:srv`, ` \\srv`: `path:\\srv`, `\\`: ``, `\\-x`: `word:x`, `\\x`: `path:\\x`,
		`\u0041b`: `word:b`, `\u004gb`: `id:u004gb`, `\u004`: `id:u004`, `\u0041`: ``, `\nb`: `word:b`, `\n`: ``, `\`: ``, `\qb`: `word:qb`, `\"b`: `word:b`,
	} {
		if got := show(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestHex(t *testing.T) {
	for s, want := range map[string]bool{"": true, "0123456789abcdefABCDEF": true, "g": false, "G": false, "`": false, "@": false, "0x": false} {
		if isHex(s) != want {
			t.Errorf("%q is hex: %v", s, !want)
		}
	}
}
