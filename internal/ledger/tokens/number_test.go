package tokens

import (
	"strings"
	"testing"
)

func TestPlainNumbers(t *testing.T) {
	for _, tt := range []struct {
		token, want string
		money       bool
	}{
		{"5", "5", false},
		{"+5", "5", false},
		{"-5", "-5", false},
		{"007", "7", false},
		{"-0", "0", false},
		{"-0.00", "0", false},
		{"0", "0", false},
		{"0.5", "0.5", false},
		{"0.50", "0.5", false},
		{"10", "10", false},
		{"5%", "5", false},
		{"100.0", "100", false},
		{"$5", "5", true},
		{"-$5", "-5", true},
		{"5€", "5", true},
		{"5eur", "5", true},
		{"€0.10", "0.1", true},
		{"1,234", "1234", false},
		{"1.234", "1.234", false},
		{"12,34", "12.34", false},
		{"1,2345", "1.2345", false},
		{"1,2", "1.2", false},
		{"1.234.567", "1234567", false},
		{"1,234,567", "1234567", false},
		{"1,234.5", "1234.5", false},
		{"1.234,5", "1234.5", false},
		{"123,456.7", "123456.7", false},
		{"1,234,567.89", "1234567.89", false},
		{"1.234.567,890", "1234567.89", false},
		{",5", "0.5", false},
	} {
		got, money, ok := PlainNumber(tt.token)
		if got != tt.want || money != tt.money || !ok {
			t.Errorf("%s is %s, money %v, ok %v; want %s, %v", tt.token, got, money, ok, tt.want, tt.money)
		}
	}
	for _, token := range []string{
		"", "-", "$", "1,23,456", "1234,567.8", "1234,567,890", "1.23.4", "1,234.567.8", "1,2345,678", "1.234,567.890", ",123,456",
		"1,234,5678", "1,,234",
	} {
		if got, _, ok := PlainNumber(token); ok {
			t.Errorf("%q is the number %s", token, got)
		}
	}
}

func TestNumbersEnd(t *testing.T) {
	for rest, want := range map[string]bool{
		"": true, " ": true, ",": true, ")x": true, "a": false, "7": false, "_": false, "é": false, "٣": false, "\u0301": false, "🎉": true, "€x": true,
		"\x80": true, "-": true, "- ": true, "-a": false, "--": false, ".": true, ".a": false, "..": false, ".)": true, "/9": false, "+é": false,
	} {
		if endsToken(rest) != want {
			t.Errorf("a token ends before %q: %v", rest, !want)
		}
	}
}

func TestNumberTokens(t *testing.T) {
	for text, want := range map[string]string{
		"-$5 +5 -€5 5$":                 "number:-$5 number:+5 number:-€5 number:5$",
		"5% 5%% 5usd 5USDX 5abc 5 usd":  "number:5% number:5% number:5usd id:5usdx id:5abc number:5 word:usd",
		"12345678% $12345678 12345678€": "number:12345678% number:$12345678 number:12345678€",
		"-12345678 1,234,567 12345.678": "number:-12345678 number:1,234,567 number:12345.678",
		"1234567 12345678":              "number:1234567 account:12345678",
		"1.2.3,4 1,2,3":                 "id:1.2.3 number:4 number:1 number:2,3",
		"$1,2,3 12345678,1,2":           "number:$1 number:2,3 account:12345678 number:1,2",
		".5 -.5 $,5":                    "id:.5 id:.5 number:5",
		"1,":                            "number:1",
		"5dollars 5euro":                "id:5dollars id:5euro",
		"7.) 17.x 7-":                   "number:7 path:17.x number:7",
	} {
		if got := show(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{"", "x", "-", "5x", "-x", "$", ",5"} {
		if n, bare := numberLen(text); n != 0 || bare != 0 {
			t.Errorf("%q begins with a number of %d bytes, %d digits", text, n, bare)
		}
	}
	for text, want := range map[string]int{"": 0, "5ab": 0, "ab5": 2, "ab": 2} {
		if got := wordLen(text); got != want {
			t.Errorf("the word in %q has %d letters, want %d", text, got, want)
		}
	}
	for digits, want := range map[int]int{maxDigits: maxDigits, maxDigits + 1: 0} {
		if got := figuresLen(strings.Repeat("1", digits)); got != want {
			t.Errorf("%d digits give %d, want %d", digits, got, want)
		}
	}
}

func TestTelephoneNumbers(t *testing.T) {
	for text, want := range map[string]int{
		"+12345678": 9, "+1234567": 0, "+1 234567": 0, "12345678": 0, "+x2345678": 0, "+ 12345678": 0,
		"+123456789012345": 16, "+1234567890123456": 0, "+12345678901234567": 0,
		"+1 (234) 567-8.9": 16, "+1  2345678": 11, "+1   2345678": 0, "+1 234 5678,": 11, "+1 234 5678x": 0, "+12345678 ": 9,
		"+1/2345678": 0, "+12345678 90123456": 0, "+12345678, 9": 9, "+12345678 (call)": 9, "+12345678 - 9": 9, "+1 234567 ": 0,
	} {
		if got := phoneLen(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestCardNumbers(t *testing.T) {
	for text, want := range map[string]int{
		"4111 1111 1111 1111": 19, "4111-1111-1111-1111": 19, "4111-1111-1111-1111 x": 19, "4111 1111 1111 111": 0, "4111.1111.1111.1111": 0,
		"4111 1111-1111 1111": 0, "4111 1111 1111-1111": 0, "411a 1111 1111 1111": 0, "4111 1111 1111 111a": 0, "a111 1111 1111 1111": 0,
		"4111 1111 1111 1111a": 0, "4111 1111 1111 11112": 0, "4111 1111 11111 111": 0,
	} {
		if got := cardLen(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestBankAccounts(t *testing.T) {
	for text, want := range map[string]int{
		"NO9386011117947":                     15, // the shortest there are
		"NO938601111794":                      0,
		"NO93 8601 1117 947":                  18,
		"NO93 8601 1117 947 12":               18, // a short group is the last
		"BE68 5390 0754 7034 2024":            19, // the check digits say where it ends
		"BE69 5390 0754 7034 2024":            24, // these are wrong
		"CH93 0076 2011 6238 5295 7":          26,
		"DE89 3704 0044 0532 0130 00":         27,
		"DE89 3704 0044 0532 0130 00 AB":      27,
		"DE88 3704 0044 0532 0130 00 AB":      27, // no digits: no group of an account
		"DE88 3704 0044 0532 0130 0AB":        28,
		"DE88 3704 0044 0532 0130 0000 12345": 29, // longer than a group
		"DE88 370 0044 0532 0130":             0,
		"DE88 37040 0044 0532 0130":           0,
		"GB29 NWBK 6016 1331 9268 19":         27,
		"MT84MALT011000012345MTLCAST001S":     31,
		"MT84ABCDEFGHIJK":                     0, // too few digits
		"MT84ABCDEFGHIJ12345":                 0,
		"MT84ABCDEFGHIJ123456":                20,
		"de89370400440532013000":              0,
		"1E89370400440532013000":              0,
		"D189370400440532013000":              0,
		"DEA9370400440532013000":              0,
		"DE8A370400440532013000":              0,
		"DE89370400440532013000x":             0,
		"DE893704004405320130-00":             0,
		"DE88370400440532013000,1":            22,
		"ZZ00" + strings.Repeat("0", 30):      34, // the longest there can be
		"ZZ00" + strings.Repeat("0", 31):      0,
	} {
		if got := ibanLen(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestCheckDigits(t *testing.T) {
	for account, want := range map[string]bool{
		"DE89 3704 0044 0532 0130 00": true, "GB29NWBK60161331926819": true, "FR1420041010050500013M02606": true, "NO9386011117947": true,
		"DE88370400440532013000": false, "DE89370400440532013001": false, "GB29NWBK60161331926891": false, "GB29NWAK60161331926819": false,
	} {
		if checksOut(account) != want {
			t.Errorf("%s checks out: %v", account, !want)
		}
	}
}
