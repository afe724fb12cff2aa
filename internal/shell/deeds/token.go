package deeds

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inHeader matches an Authorization header, whose value only authenticates the request.
const inHeader = `^(?i:authorization:[ ]?(?:bearer|basic|token)[ ])([A-Za-z0-9._~+/=-]+)$`

// WithoutTokens returns a line with a mark in place of each token in an Authorization header of
// curl. Such a token is only sent, and never run, opened or used as an address. It returns "" for
// every line that is not a single plain curl command.
func WithoutTokens(line, mark string) string {
	if len(line) > maxLine || !strings.Contains(line, "curl") {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return ""
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || call.Args[0].Lit() != "curl" {
		return ""
	}
	header := regexp.MustCompile(inHeader)
	words := wordsOf(call.Args)
	var b strings.Builder
	from := 0
	for i, w := range words {
		if !w.known {
			return "" // the word may be an option that takes the next word
		}
		if i == 0 || words[i-1].text != "-H" && words[i-1].text != "--header" {
			continue
		}
		found := header.FindStringSubmatch(w.text)
		if found == nil {
			continue
		}
		start, end := int(call.Args[i].Pos().Offset()), int(call.Args[i].End().Offset())
		at := strings.LastIndex(line[start:end], found[1])
		if at < 0 {
			return ""
		}
		b.WriteString(line[from:start+at] + mark)
		from = start + at + len(found[1])
	}
	return b.String() + line[from:]
}
