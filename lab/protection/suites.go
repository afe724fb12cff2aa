package protection

import (
	"embed"
	"fmt"

	"github.com/floodmark/floodmark/catalog"
)

//go:embed catalog/*.yaml
var catalogs embed.FS

// SuiteFiles returns the descriptions of the benchmarks' tools, in the language of the catalog.
// They were written from the tools' names, descriptions and schemas, as a user would describe the
// tools of a server.
//
// Two things keep the figures from being a clean held-out measurement. The
// comparison cards were known when the files were written. And after a first
// replay, whose table showed the held-out sets too, four tools that change
// something (two of slack, two of github) were set to own; no count of a
// held-out set moved. By the protocol of the data, results with this catalog
// are «tuned».
func SuiteFiles() ([]*catalog.File, error) {
	entries, err := catalogs.ReadDir("catalog")
	if err != nil {
		return nil, fmt.Errorf("read catalog of the suites: %w", err)
	}
	files := make([]*catalog.File, 0, len(entries))
	for _, e := range entries {
		data, err := catalogs.ReadFile("catalog/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read catalog of the suites: %w", err)
		}
		f, err := catalog.Parse(e.Name(), data)
		if err != nil {
			return nil, fmt.Errorf("read catalog of the suites: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// Server returns the catalog's name for the tools of t's suite.
func (t *Trace) Server() string { return t.Source + "-" + t.Suite }
