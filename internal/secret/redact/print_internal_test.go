package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

const canary = "floodmark-canary-4k7q1z9m3x8v5c2b6n0w7r1t"

// printed returns a secret as it is recorded in facts.
func printed(secret string) floodmark.SecretSpan {
	return printedBy(&Printer{key: provenance.Key{7}}, secret)
}

func printedBy(p *Printer, secret string) floodmark.SecretSpan {
	return p.Span(Span{Rule: "r"}, secret)
}

func recognised(text string, secrets ...floodmark.SecretSpan) []int {
	p := Printer{key: provenance.Key{7}}
	var list []int
	for _, bare := range Readings(text) {
		for _, i := range p.Holds(bare, secrets) {
			if !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	slices.Sort(list)
	return list
}

func TestASecretIsRecognisedHoweverItIsWritten(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	in := []byte(canary)
	wrapped := b64([]byte("user:" + canary + ":and some more behind it so that lines break"))
	for name, c := range map[string]struct {
		text  string
		known bool
	}{
		"as it is":                     {canary, true},
		"among words":                  {"say " + canary + " now", true},
		"in a URL":                     {"https://x.example/?k=" + canary + "&x=1", true},
		"with spaces":                  {strings.Join(strings.Split(canary, ""), " "), true},
		"with what nobody sees":        {strings.Join(strings.Split(canary, ""), "\u200b"), true},
		"backwards":                    {"t1r7w0n6b2c5v8x3m9z1q7k4-yranac-kramdoolf", true},
		"in base64":                    {b64(in), true},
		"in base64 of URLs":            {base64.RawURLEncoding.EncodeToString([]byte("??>>" + canary)), true},
		"in base64 behind a word":      {"x/" + b64(in), true},
		"in base64 behind two":         {"xy/" + b64(in), true},
		"in base64 behind three":       {"xyz/" + b64(in), true},
		"in broken lines":              {wrapped[:30] + "\r\n" + wrapped[30:60] + "\r\n" + wrapped[60:], true},
		"in base64 of base64":          {b64([]byte(b64(in))), true},
		"backwards in base64":          {b64([]byte("t1r7w0n6b2c5v8x3m9z1q7k4-yranac-kramdoolf")), true},
		"in hex":                       {hex.EncodeToString(in), true},
		"in hex behind a digit":        {"1" + hex.EncodeToString(in), true},
		"in large hex with colons":     {strings.ToUpper(colons(in)), true},
		"in base32":                    {base32.StdEncoding.EncodeToString(in), true},
		"in small base32":              {strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(in)), true},
		"base32 on a line of its own":  {"see\n" + base32.StdEncoding.EncodeToString(in), true},
		"with percent signs":           {percent(in), true},
		"with percent signs in base64": {b64([]byte(percent(in))), true},
		"without its first letter":     {canary[1:], false},
		"without its last":             {canary[:len(canary)-1], false},
		"with one letter changed":      {strings.Replace(canary, "4k", "4j", 1), false},
		"in three encodings":           {b64([]byte(b64([]byte(b64(in))))), false},
		"something else":               {strings.Repeat("the quick brown fox jumps over it ", 40), false},
		"nothing":                      {"", false},
	} {
		if got := len(recognised(c.text, printed(canary))) > 0; got != c.known {
			t.Errorf("%s: %v, want %v: %q", name, got, c.known, c.text)
		}
	}
}

func colons(b []byte) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprintf("% x", b), " ", ":"), ":")
}

func percent(b []byte) string {
	text := ""
	for _, c := range b {
		text += fmt.Sprintf("%%%02x", c)
	}
	if plain, err := url.PathUnescape(text); err != nil || plain != string(b) {
		panic("not percent signs")
	}
	return text
}

// Secrets are named in the order in which the session read them, whatever keys their prints were
// made with.
func TestTheOrderOfSecretsIsThatOfTheSession(t *testing.T) {
	secrets := []string{"dddd3333", "aaaabbbbcccc1111", "aaaabbbbcccc2222", "eeee4444"}
	text := "aaaabbbbcccc2222" + "eeee4444" + "dddd3333" + "aaaabbbbcccc1111"
	for keys := range 1 << len(secrets) {
		old, current := &Printer{key: provenance.Key{7}}, &Printer{key: provenance.Key{8}, name: "new"}
		var all []floodmark.SecretSpan
		for i, s := range secrets {
			by := old
			if keys>>i&1 == 1 {
				by = current
			}
			all = append(all, printedBy(by, s))
		}
		old, current = &Printer{key: old.key, others: []*Printer{current}}, &Printer{key: current.key, name: current.name, others: []*Printer{old}}
		for _, p := range []*Printer{old, current} {
			if got := p.Holds(text, all); !slices.Equal(got, []int{0, 1, 2, 3}) {
				t.Errorf("keys %04b, read with %q: %v", keys, p.name, got)
			}
		}
	}
}

func TestWhichSecretsStandInAText(t *testing.T) {
	one, two, three := "aaaabbbbcccc1111", "aaaabbbbcccc2222", "dddd3333"
	all := []floodmark.SecretSpan{printed(one), printed(two), printed(three)}
	for text, want := range map[string][]int{
		one:                         {0},
		"x" + two + "y":             {1},
		one + two:                   {0, 1},
		three:                       {2},
		"zz" + three + two:          {1, 2},
		"aaaabbbbcccc":              nil,
		"aaaabbbbcccc333dddd":       nil,
		strings.Repeat("dddd33", 9): nil,
	} {
		if got := recognised(text, all...); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	other := Printer{key: provenance.Key{8}}
	if len(other.Holds(one, all)) > 0 {
		t.Error("another tenant's key finds the secret")
	}
	if all[0].Print == all[1].Print || strings.Contains(all[0].Print, "aaaa") || len(all[0].Print) != 16 {
		t.Errorf("prints %v", all)
	}
}

func FuzzReadings(f *testing.F) {
	for _, seed := range []string{canary, "%66%6c", "Zmxvb2Q=", "666c6f6f64", "\xff\x00", strings.Repeat("A", 99)} {
		f.Add(seed)
	}
	secret := printed(canary)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		if len(recognised(text+" "+canary, secret)) != 1 {
			t.Errorf("not recognised behind %q", text)
		}
	})
}
