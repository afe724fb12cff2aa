package redact_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// The made-up secrets of these tests, in pieces so that no scanner finds them.
const (
	pat   = "ghp" + "_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
	key   = "Zf3D0LXCM3EI" + "MbgJpUNnkRtOfOueHznB"
	begin = "-----BEGIN " + "PRIVATE KEY-----\n"
	ends  = "\n-----END " + "PRIVATE KEY-----"
)

func TestFind(t *testing.T) {
	d := redact.New()
	for name, c := range map[string]struct {
		before, secret, after, rule string
	}{
		"a token by its first letters":    {"see ", pat, " there", "github-pat"},
		"at the beginning":                {"", pat, "", "github-pat"},
		"right behind another word":       {"x", pat, "", "github-pat"},
		"an assignment":                   {"my_token = '", key, "'", redact.Generic},
		"in JSON":                         {`{"apiKey": "`, key, `"}`, redact.Generic},
		"in a header":                     {"auth: ", key, "\n", redact.Generic},
		"before a written line break":     {`"SECRET_KEY=`, key, `\nNAME=x"`, redact.Generic},
		"an arrow":                        {"'password' => '", key, "'", redact.Generic},
		"a long sign":                     {"token :::= ", key, "", redact.Generic},
		"with a default":                  {"token ?= ", key, "", redact.Generic},
		"in case of nothing":              {"token || ", key, "", redact.Generic},
		"as an element":                   {"<token>", key, "\n", redact.Generic},
		"as the second value":             {`get("token", "`, key, `")`, redact.Generic},
		"a maker's name":                  {"cloudflare_key = ", "0123456789012345678901234567890abcdefff0"[:37] + "abc", "", "cloudflare-api-key"},
		"after the longest name":          {"token" + strings.Repeat("x", 20) + "'  = ", key, "", redact.Generic},
		"a whole private key":             {"", begin + strings.Repeat("MIIE", 20) + ends, "", "private-key"},
		"a private key that was cut off":  {"x\n", begin + strings.Repeat("MIIE", 20) + "\n", "", "private-key"},
		"the password inside a command":   {"curl -u anna:", "", "", ""},
		"not after too long a name":       {"token" + strings.Repeat("x", 21) + "   = " + key, "", "", ""},
		"not after four quotes":           {"token '''' = " + key, "", "", ""},
		"not with six leading characters": {"token = '''''" + key, "", "", ""},
		"not without an assignment":       {"the token " + key + " is", "", "", ""},
		"not with something glued to it":  {"token = " + key + "(", "", "", ""},
		"not one pipe":                    {"token | " + key, "", "", ""},
		"not a lone question":             {"token ? " + key, "", "", ""},
		"not in odd case":                 {"aPi = " + key, "", "", ""},
		"nothing":                         {"", "", "", ""},
	} {
		var want []redact.Span
		if c.rule != "" {
			want = []redact.Span{{Start: len(c.before), End: len(c.before) + len(c.secret), Rule: c.rule}}
		}
		if diff := cmp.Diff(want, d.Find(c.before+c.secret+c.after)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOrdinaryPlaceholdersAreNoSecrets(t *testing.T) {
	d := redact.New()
	for _, text := range []string{
		"token = ${GITHUB_TOKEN}", "token: {{ secrets.TOKEN }}", "api_key=$API_KEY", "password: xxxxxxxxxxxxxxxx",
		"AKIA" + "IOSFODNN7EXAMPLE", "api_key: your-api-key-goes-here-12", "token = <your-token-1234567>", "secret: ****************",
		"password=changeme-changeme-1234", "key := encryptionKey1024", "PrivateKey = testEd25519PrivateKey", `trace.Log(ctx, "key0", "0123456789abcdef")`,
		"token = placeholder-8f3k2j1h", "public_key = 9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC", "secret: [REDACTED-abc123def456]",
		"-----BEGIN CERTIFICATE-----\n" + strings.Repeat("MIIE", 40) + "\n-----END CERTIFICATE-----",
		"-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----",
	} {
		if found := d.Find(text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}

func TestSpansDoNotOverlapAndMakersSpeakFirst(t *testing.T) {
	text := "token = '" + pat + "' and token = '" + key + "' " + pat
	want := []redact.Span{
		{Start: 9, End: 49, Rule: "github-pat"},
		{Start: 64, End: 96, Rule: redact.Generic},
		{Start: 98, End: 138, Rule: "github-pat"},
	}
	if diff := cmp.Diff(want, redact.New().Find(text)); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutADetectorEverythingIsASecret(t *testing.T) {
	var none *redact.Detector
	want := []redact.Span{{End: 5, Rule: redact.Unchecked}}
	if diff := cmp.Diff(want, none.Find("hello")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, new(redact.Detector).Find("hello")); diff != "" {
		t.Error(diff)
	}
	if found := none.Find(""); found != nil {
		t.Errorf("nothing is no secret: %v", found)
	}
}

func TestManyAtOnce(t *testing.T) {
	d := redact.New()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if found := d.Find("token = '" + key + "' " + pat); len(found) != 2 {
					t.Errorf("found %v", found)
				}
			}
		})
	}
	all.Wait()
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"token = '" + key + "'", pat + pat, begin, "curl -H 'Authorization: Bearer abcdefgh'", "key:::=\xff\n", "kind: secret\ndata: x"} {
		f.Add(seed)
	}
	d := redact.New()
	f.Fuzz(func(t *testing.T, text string) {
		found := d.Find(text)
		last := 0
		for _, s := range found {
			if s.Start < last || s.End <= s.Start || s.End > len(text) || s.Rule == "" {
				t.Fatalf("spans %v of %d bytes", found, len(text))
			}
			last = s.End
		}
		if diff := cmp.Diff(found, d.Find(text)); diff != "" {
			t.Errorf("not the same twice: %s", diff)
		}
	})
}
