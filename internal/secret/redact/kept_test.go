package redact_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/provenance"
)

// The secrets of a file for secrets are recognised in another text. Its other words are not.
func TestValuesOfAFileAreKnownAgain(t *testing.T) {
	p := redact.NewPrinter(provenance.RingKey{Key: provenance.Key{7}}, nil)
	for name, c := range map[string]struct {
		file, holds string
		k           redact.Keeper
		text        string
		known       bool
	}{
		"a password of two words":          {".env", "DB_PASSWORD=hunter two", redact.KeepsSecrets, "DB_PASSWORD=hunter two", true},
		"written otherwise":                {".env", "DB_PASSWORD=hunter two", redact.KeepsSecrets, "{'DB_PASSWORD': 'hunter two'}", true},
		"a strong one, alone":              {".env", "DB_PASSWORD=Tr0ub4dor&3", redact.KeepsSecrets, "it says Tr0ub4dor&3, no more", true},
		"in quotes, with a comment":        {".env", "export API_TOKEN=\"correct horse battery\" # mine", redact.KeepsSecrets, "correct horse battery", true},
		"a word, alone":                    {".env", "DB_PASSWORD=postgres", redact.KeepsSecrets, "uses postgres 16", false},
		"a host":                           {".env", "DB_HOST=db.internal.example", redact.KeepsSecrets, "db.internal.example", false},
		"a switch":                         {".env", "TOKEN_CHECK=true", redact.KeepsSecrets, "TOKEN_CHECK=true", false},
		"an empty one":                     {".env.example", "API_TOKEN=\nNEXT_LINE_IS_LONG=yes", redact.MayKeep, "API_TOKEN=\nNEXT_LINE_IS_LONG=yes", false},
		"a reference":                      {"database.yml", "  password: <%= ENV['DB_PASSWORD'] %>", redact.MayKeep, "password: <%= ENV['DB_PASSWORD'] %>", false},
		"a long value without such a name": {".env", "SENTRY=9f8e7d6c5b4a39281706f5e4d3c2b1a0", redact.KeepsSecrets, "9f8e7d6c5b4a39281706f5e4d3c2b1a0", true},
		"the same where few are":           {"a.properties", "build.id=9f8e7d6c5b4a39281706f5e4d3c2b1a0", redact.MayKeep, "9f8e7d6c5b4a39281706f5e4d3c2b1a0", false},
		"PHP":                              {"wp-config.php", "define( 'DB_PASSWORD', 'horse staple' );", redact.KeepsSecrets, "DB_PASSWORD horse staple", true},
		"a URL":                            {"config", "\turl = https://ann:gl0pat-x9y8@git.example/a.git", redact.MayKeep, "origin https://ann:gl0pat-x9y8@git.example/a.git (fetch)", true},
		"a URL without one":                {"config", "\turl = https://git.example/a.git", redact.MayKeep, "origin https://git.example/a.git (fetch)", false},
		"netrc":                            {".netrc", "machine h.example login ann password s3cret-9x", redact.KeepsSecrets, "s3cret-9x", true},
		"pgpass":                           {".pgpass", "db.example:5432:app:ann:horse-staple-9", redact.KeepsSecrets, "horse-staple-9", true},
		"XML":                              {"settings.xml", "<password>h0rse-staple</password>", redact.MayKeep, "h0rse-staple", true},
		"AWS":                              {"credentials", "[default]\naws_secret_access_key = correct horse", redact.KeepsSecrets, "key correct horse", true},
		"nothing is kept":                  {"x", "PASSWORD=Tr0ub4dor&3", redact.KeepsNone, "Tr0ub4dor&3", false},
	} {
		kept := redact.New().Kept(&p, c.file, c.holds, c.k)
		got := p.Stand(c.text, kept, 9)
		if (len(got) > 0) != c.known {
			t.Errorf("%s: found %v of %v", name, got, kept)
		}
		for _, s := range got {
			if s.Rule != "kept in "+c.file || s.Start < 0 || s.End > len(c.text) || redact.Squeezed(c.text[s.Start:s.End]) == "" || strings.Contains(s.Print, "horse") {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	var many strings.Builder
	for i := range 200 {
		many.WriteString("TOKEN=value-number-" + strings.Repeat("7", i%9) + string(rune('a'+i%26)) + "\n")
	}
	if got := redact.New().Kept(&p, ".env", many.String(), redact.KeepsSecrets); len(got) != 64 {
		t.Errorf("%d values of one file", len(got))
	}
}
