package kernel

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

// printed is a secret as a fact keeps it.
func printed(secret string) floodmark.SecretSpan {
	return printedBy(&printer{key: provenance.Key{7}}, secret)
}

func printedBy(p *printer, secret string) floodmark.SecretSpan {
	bare := squeezed(secret)
	return floodmark.SecretSpan{Rule: "r", Print: p.print(bare), Length: len(bare), Quick: quick(p.roll(bare))}
}

func recognised(text string, secrets ...floodmark.SecretSpan) []int {
	p := printer{key: provenance.Key{7}}
	var list []int
	for _, bare := range readings(text) {
		for _, i := range p.holds(bare, secrets) {
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

// In which order secrets are named does not tell under which keys they were found:
// it is that in which the session met them.
func TestTheOrderOfSecretsIsThatOfTheSession(t *testing.T) {
	secrets := []string{"dddd3333", "aaaabbbbcccc1111", "aaaabbbbcccc2222", "eeee4444"}
	text := "aaaabbbbcccc2222" + "eeee4444" + "dddd3333" + "aaaabbbbcccc1111"
	for keys := range 1 << len(secrets) {
		old, current := &printer{key: provenance.Key{7}}, &printer{key: provenance.Key{8}, name: "new"}
		var all []floodmark.SecretSpan
		for i, s := range secrets {
			by := old
			if keys>>i&1 == 1 {
				by = current
			}
			all = append(all, printedBy(by, s))
		}
		old, current = &printer{key: old.key, others: []*printer{current}}, &printer{key: current.key, name: current.name, others: []*printer{old}}
		for _, p := range []*printer{old, current} {
			if got := p.holds(text, all); !slices.Equal(got, []int{0, 1, 2, 3}) {
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
	other := printer{key: provenance.Key{8}}
	if len(other.holds(one, all)) > 0 {
		t.Error("another tenant's key finds the secret")
	}
	if all[0].Print == all[1].Print || strings.Contains(all[0].Print, "aaaa") || len(all[0].Print) != 16 {
		t.Errorf("prints %v", all)
	}
}

func TestFoundSecretsAreBounded(t *testing.T) {
	st := &step{r: NewRules(nil, nil), in: Input{Key: provenance.Key{7}}}
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%04d\n", canary[:len(canary)-4], i)
		}
		return b.String()
	}
	if got := st.found(many(maxSecrets)); len(got) != maxSecrets || slices.ContainsFunc(got, unprinted) {
		t.Errorf("%d secrets at the limit: %v", len(got), got[0])
	}
	got := st.found(many(maxSecrets + 1))
	if len(got) != 1 || got[0].Rule != "many" || got[0].Start != 0 || got[0].End != (maxSecrets+1)*(len(canary)+1)-1 || !unprinted(got[0]) {
		t.Errorf("one more: %v", got)
	}
	if got := st.found("nothing to see"); got != nil {
		t.Errorf("found %v", got)
	}
	if got := st.found("x " + canary); len(got) != 1 || got[0].Start != 2 || got[0].End != 2+len(canary) || got[0].Length != len(canary)-2 ||
		got[0] != func() floodmark.SecretSpan {
			want := printed(canary)
			want.Rule, want.Start, want.End = "floodmark-canary", 2, 2+len(canary)
			return want
		}() {
		t.Errorf("found %+v", got)
	}
	// Without rules of ours everything is secret; too little of it to print.
	blind := &step{}
	if got := blind.found("abc1234"); len(got) != 1 || !unprinted(got[0]) || got[0].End != 7 {
		t.Errorf("%v", got)
	}
	if got := blind.found("abc12345"); len(got) != 1 || unprinted(got[0]) {
		t.Errorf("%v", got)
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
