package kernel

import (
	"strings"
	"testing"
)

func TestCredentialsAreNotShown(t *testing.T) {
	st := &step{r: NewRules(nil, nil)}
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
		if got := st.veiled(text); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
	if long := strings.Repeat("a b ", 30000); st.veiled(long) != long {
		t.Error("ordinary text was changed")
	}
}
