package catalog

import (
	"slices"
	"testing"
)

// A line that only deletes single files, and the files it did not make.
func TestRemovals(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]struct {
		files []string
		only  bool
	}{
		"rm /p/a":                     {[]string{"/p/a"}, true},
		"rm -f /p/a /p/b":             {[]string{"/p/a", "/p/b"}, true},
		"unlink /p/a":                 {[]string{"/p/a"}, true},
		"echo x > /p/a; rm /p/a /p/b": {[]string{"/p/b"}, true},
		"echo x > /p/a; rm /p/a":      {nil, true},
		"ls":                          {nil, false},
		"rm -r /p/a":                  {nil, false},
		"rm /p/*":                     {nil, false},
		"rmdir /p/a":                  {nil, false},
		"find /p -delete":             {nil, false},
		"rm $x":                       {nil, false},
		"rm /p/a; git reset --hard":   {nil, false},
		"git clean -f":                {nil, false},
		"rm /p/a && kubectl delete x": {nil, false},
	} {
		u := shell(t, c, line)
		if !slices.Equal(u.Removes, want.files) || u.Tidies != want.only {
			t.Errorf("%q: %v %v, want %v", line, u.Removes, u.Tidies, want)
		}
	}
}
