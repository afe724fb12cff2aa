package tokens

import "testing"

func TestReaches(t *testing.T) {
	for value, want := range map[string]bool{
		"https://news.example/a": true, "anna@firm.example": true, "DE89370400440532013000": true, "login.bank.example": true,
		"bank.com": true, "evil.io.": true, "@anna": true, "EVIL.COM": true, "a.b.zz": true,
		"general": false, "Anna": false, "report.docx": false, "e.g.": false, "notes.v2": false, "a..com": false, "3.14": false, "1.2.3": false,
		"a b.com": false, "x_y.com": false, "": false, "com": false, ".com": false, "bank.c": false, "bank.co-m": false, "a.b.c": false,
	} {
		if got := Reaches(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if BareHost("anna@firm.example") || !BareHost("bücher.de") || BareHost("https://bank.com") {
		t.Error("only the name of a host is one")
	}
}

func TestURLHost(t *testing.T) {
	for url, want := range map[string]string{
		"https://Example.com/x": "example.com", "http://a@b.com:80/": "b.com", "https://good.com@evil.com": "evil.com",
		"http://[::1]:80/x": "::1", "www.x.com?y": "www.x.com", "https://evil.com\\@good.com": "", "x://a.": "a", "": "",
	} {
		if got := URLHost(url); got != want {
			t.Errorf("host of %q is %q, want %q", url, got, want)
		}
	}
}
