package main

import (
	"strings"
	"testing"
)

const sample = `
[allowlist]
regexes = ['''^x+$''']
[[rules]]
id = "maker-token"
regex = '''\b(mk_[a-z]{20})\b'''
keywords = ["MK_"]
entropy = 2
[[rules]]
id = "maker-key"
regex = '''(?i)[\w.-]{0,50}?(?:(?-i:[Mm]aker|MAKER)|mk[_-]?key)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}([a-z]{9})(?:[\x60'"\s;]|\\[nr]|$)'''
keywords = ["maker"]
[[rules.allowlists]]
regexTarget = "match"
stopwords = ["Test"]
[[rules.allowlists]]
condition = "AND"
paths = ['''x''']
regexes = ['''y''']
[[rules]]
id = "pkcs12-file"
path = '''x'''
`

func TestConvert(t *testing.T) {
	out, err := convert([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"allow": [{"regexes":["^x+$"]}]`,
		`{"id":"maker-token","keywords":["mk_"],"regex":"\\b(mk_[a-z]{20})\\b","entropy":2},`,
		`{"id":"maker-key","names":["maker","mk-key","mk_key","mkkey"],"spelled":{"maker":["maker","Maker","MAKER"]},"value":"(?i)[a-z]{9}","allow":[{"on":"match","stopwords":["test"]}]}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("not there: %s\nin:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), `"id":"pkcs12-file"`) {
		t.Error("a rule about names of files is there")
	}
}
