// Package linefinds returns what is found in a command line besides its effects. What is asked about
// a finding is data, in internal/rules/finding.
package linefinds

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/fetching"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// Of returns what is found in a line.
func Of(r *shellscan.Report) finding.List {
	var list finding.List
	if r.InteractiveShell {
		list = list.With(floodmark.TakesCommands, "")
	}
	list = list.With(floodmark.FetchesPackage, fetching.Packages(r)...).With(floodmark.DeletesFolder, folders(r)...)
	for i := range r.Parts {
		for _, e := range r.Parts[i].Entries {
			list = list.About(e.Finds, operands(r.Parts[i].Words, e))
		}
	}
	return list
}

// operands are the words of a command besides its first ones, and the values in its options. One
// that is not known is empty, and where more words were given than were kept, one of them is.
func operands(words []string, e *commandbook.Entry) (list []string) {
	first, ended := e.Words, false
	for _, w := range words {
		switch {
		case len(first) > 0 && w == first[0]:
			first = first[1:]
			continue
		case len(first) == len(e.Words): // the program by its path
			first = first[1:]
			continue
		case !ended && w == "--":
			ended = true
			continue
		case !ended && strings.HasPrefix(w, "-") && w != "-":
			value, holds := within(w, e)
			if !holds {
				continue
			}
			w = value
		}
		if strings.Contains(w, "*") || w == "-" { // unknown, a pattern or what is piped in
			w = ""
		}
		list = append(list, w)
	}
	if len(words) >= shellscan.MaxPartWords {
		list = append(list, "")
	}
	return list
}

// within returns the value in the same word as its option; what follows a letter that e does not
// describe may be one.
func within(option string, e *commandbook.Entry) (value string, holds bool) {
	name, value, holds := strings.Cut(option, "=")
	_, whole := e.Values[name]
	if holds || whole || slices.Contains(e.Options, name) || strings.HasPrefix(option, "--") {
		return value, holds
	}
	for i := 1; i < len(option); i++ {
		role, takes := e.Values["-"+option[i:i+1]]
		switch {
		case takes && role != commandbook.Flag:
			return option[i+1:], i+1 < len(option)
		case !takes && e.Flags != "*" && !strings.Contains(e.Flags, option[i:i+1]):
			return "", true
		}
	}
	return "", false
}
