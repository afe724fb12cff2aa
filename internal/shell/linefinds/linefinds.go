// Package linefinds returns what is found in a command line besides its effects. What is asked about
// a finding is data, in internal/rules/finding.
package linefinds

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
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
			list = list.About(e.Finds, operands(r.Parts[i].Words, e.Words))
		}
	}
	return list
}

// operands are the words of a command besides its first ones and its options. Where there are more
// than were kept, one of them is unknown.
func operands(words, first []string) (list []string) {
	for _, w := range words[min(1, len(words)):] {
		if !strings.HasPrefix(w, "-") && !slices.Contains(first, w) {
			list = append(list, w)
		}
	}
	if len(words) >= shellscan.MaxPartWords {
		list = append(list, "")
	}
	return list
}
