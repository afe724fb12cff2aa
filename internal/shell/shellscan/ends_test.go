package shellscan_test

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// A report says in which folders the line may leave its shell.
func TestEnds(t *testing.T) {
	t.Parallel()
	c := commands(t)
	for line, want := range map[string][]string{
		"ls":                            {"/p"},
		"cd sub":                        {"/p/sub"},
		"cd sub && make":                {"/p/sub"},
		"cd sub; ls":                    {"/p", "/p/sub"},
		"(cd sub && ls)":                {"/p"},
		"cd sub && cd .. && ls":         {"/p"},
		"cd /x && ls | (cd y; cat)":     {"/x"},
		`cd "$X" && ls`:                 {""},
		`eval "$X"`:                     {""},
		". ./env.sh":                    {""},
		"cd 'sub":                       {""},
		"pushd sub && ls":               {"/p/sub"},
		"cd":                            {"/home/u"},
		"for d in a b; do cd $d; done":  {""},
		"if true; then cd sub; fi; pwd": {"/p", "/p/sub"},
	} {
		got := slices.Sorted(slices.Values(shellscan.Scan(line, here(), c).Ends))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
