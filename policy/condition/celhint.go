package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/text/spelling"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// celHint says what to write instead, by the CEL library's message and the
// condition it is about.
func celHint(text, condition string) string {
	if m := regexp.MustCompile(`undeclared reference to '([^']*)'`).FindStringSubmatch(text); m != nil {
		if regexp.MustCompile(`(^|[^\w.]|\.)` + regexp.QuoteMeta(m[1]) + `\s*\(`).MatchString(condition) {
			return functionHint(m[1])
		}
		return nameHint(m[1], condition)
	}
	switch {
	case strings.Contains(text, "error at: '="):
		return "write == to compare"
	case strings.Contains(text, "input 'and'"), strings.Contains(text, "input 'or'"), strings.Contains(text, "input 'not'"), strings.Contains(text, "input 'is'"):
		return "write && for and, || for or, ! for not, == for is"
	case strings.Contains(text, "regular expression"):
		return `write one as RE2 does, as in call.tool.matches("^git_")`
	case strings.Contains(text, "undefined field"):
		return "an arg has stated, seen and trust; a source has kind, tool, trust and place"
	case strings.Contains(text, "do not go together"):
		return "trust and secrecy are compared with words, as in mark.trust <= external; texts are in quotes"
	}
	return `a condition looks like: mark.trust <= external && call.tool == "exec"`
}

// nameHint returns the hint for a variable that does not exist.
func nameHint(name, condition string) string {
	known := append(append(textVariables(), numberVariables()...), "call.args", "arg", "sources")
	words := slices.Clone(known)
	for name := range constants() {
		words = append(words, name)
	}
	slices.Sort(words[len(known):])
	for _, of := range []string{"call.", "mark."} {
		if slices.Contains(known, of+name) {
			return fmt.Sprintf("did you mean %s?", of+name)
		}
		if below := startingWith(known, of); name+"." == of {
			return partHint(of, below, condition)
		}
	}
	if near, ok := spelling.Word(name, words); ok && near != name {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "known names: " + strings.Join(words, ", ")
}

// partHint returns the hint for a part of call or mark that does not exist.
func partHint(of string, below []string, condition string) string {
	if m := regexp.MustCompile(`\b` + regexp.QuoteMeta(of) + `(\w+)`).FindStringSubmatch(condition); m != nil {
		if near, ok := spelling.Word(of+m[1], below); ok && spelling.Edits(spelling.Fold(of+m[1]), spelling.Fold(near)) <= 2 {
			return fmt.Sprintf("did you mean %s?", near)
		}
	}
	return "write one of " + policyfile.OneOf(below)
}

func startingWith(words []string, prefix string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			out = append(out, w)
		}
	}
	return out
}

// celFunctions returns the functions that people need. CEL has some more.
func celFunctions() []string {
	return []string{
		"startsWith", "endsWith", "contains", "matches", "size", "has", "exists", "exists_one", "all", "filter", "map", "int", "double", "string",
	}
}

// functionHint returns the hint for a function that does not exist.
func functionHint(name string) string {
	if near, ok := spelling.Word(name, celFunctions()); ok && near != name {
		return fmt.Sprintf("did you mean %s? There are %s", near, strings.Join(celFunctions(), ", "))
	}
	return "there are " + strings.Join(celFunctions(), ", ")
}
