package shellscan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

func commands(t testing.TB) *commandbook.Commands {
	t.Helper()
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c.Commands()
}

func here() shellscan.Place { return shellscan.Place{Dir: "/p", Home: "/home/u"} }

// show returns a report on one line: each effect once, in order of kind and path. «?» follows if
// the line is not understood, «net» if it runs network data, and «shell» if it takes further
// commands.
func show(r shellscan.Report) string {
	var out []string
	for _, e := range r.Effects {
		what := e.Kind.String()
		if e.Path != "" {
			what += " " + e.Path
		}
		if e.URL != "" {
			what += " " + e.URL
		}
		if e.Tree {
			what += "/**"
		}
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	slices.Sort(out)
	if !r.Understood {
		out = append(out, "?")
	}
	if r.NetworkIntoInterpreter {
		out = append(out, "net")
	}
	if r.InteractiveShell {
		out = append(out, "shell")
	}
	return strings.Join(out, ", ")
}
