// Package linefinds says what is found in a command line besides its effects. What is asked about it
// is data, in internal/finding.
package linefinds

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fetching"
	"github.com/floodmark/floodmark/internal/finding"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// Of returns what is found in a line.
func Of(r *shellscan.Report) finding.List {
	var list finding.List
	if r.InteractiveShell {
		list = list.With(floodmark.TakesCommands, "")
	}
	return list.With(floodmark.FetchesPackage, fetching.Packages(r)...).With(floodmark.DeletesFolder, folders(r)...)
}
