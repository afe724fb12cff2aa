package approval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// Word returns a text as written in a pattern, in quotes if it could be mistaken for something
// else.
func Word(text string) string {
	odd := number(text) || text == "" || text == "true" || text == "false" || text == "null" ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '=' || r == '"' || r == '\\' || !strconv.IsPrint(r) })
	if odd {
		return strconv.Quote(text)
	}
	return text
}

// number reports whether a text is a number. It checks the first byte before the slow library call.
func number(text string) bool {
	if text == "" || strings.IndexByte("+-.0123456789iInN", text[0]) < 0 {
		return false
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Wild reports whether a value names many things at once.
func Wild(value string) bool {
	if strings.Contains(value, "://") {
		return strings.Contains(value, "*")
	}
	switch strings.ToLower(strings.TrimLeft(value, "@#")) {
	case "all", "everyone", "everybody", "channel", "here", "any":
		return true
	}
	return strings.ContainsAny(value, "*?{}")
}

// Flowed reports whether one of the reasons is that data could leave.
func Flowed(codes []floodmark.Code) bool {
	return slices.ContainsFunc(codes, func(c floodmark.Code) bool {
		return c == floodmark.FlowSecret || c == floodmark.Undescribed || c == floodmark.FlowPrivate || c == floodmark.FlowFetch || c == floodmark.ActiveContent
	})
}
