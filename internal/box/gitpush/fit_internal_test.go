package gitpush

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	commit := strings.Repeat("a", 40)
	good := Source{Objects: t.TempDir(), Address: "https://git.example/a", Branch: "main", Commit: commit}
	if err := fit(good); err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{"https://git.example/a.git", "ssh://git@git.example:22/a", "git@git.example:a/b.git", "git.example:a", "/srv/a.git", "file:///srv/a.git", "http://[::1]:80/a"} {
		src := good
		if src.Address = a; strings.Contains(a, "::") != (fit(src) != nil) {
			t.Errorf("%q: %v", a, fit(src))
		}
	}
	for _, a := range []string{"", "-x", "ext::sh -c x", "fd::7", "git://git.example/a", "ftp://git.example/a", "a", "./a", "../a", ":a", "-h:a", "a/b:c", "https://git.example/a\nb", "transport::https://git.example/a"} {
		src := good
		if src.Address = a; fit(src) == nil {
			t.Errorf("%q fits", a)
		}
	}
	for _, b := range []string{"", "HEAD", "@", "-f", "--force", ".a", "/a", "a/", "a.", "a..b", "a//b", "a/.b", "a.lock", "a.lock/b", "a b", "a:b", "+a", "a@{1}", "a~1", "a^", "a?", "a*", "a[b", "a\\b", "ä", "a\x00", strings.Repeat("a", 200)} {
		src := good
		if src.Branch = b; fit(src) == nil && b != "+a" {
			t.Errorf("branch %q fits", b)
		}
	}
	for name, src := range map[string]Source{
		"no objects":       {Objects: filepath.Join(good.Objects, "gone"), Address: good.Address, Branch: "main", Commit: commit},
		"relative":         {Objects: ".", Address: good.Address, Branch: "main", Commit: commit},
		"no commit":        {Objects: good.Objects, Address: good.Address, Branch: "main"},
		"a commit of none": {Objects: good.Objects, Address: good.Address, Branch: "main", Commit: strings.Repeat("0", 40)},
		"a commit by name": {Objects: good.Objects, Address: good.Address, Branch: "main", Commit: "HEAD"},
	} {
		if fit(src) == nil {
			t.Errorf("%s fits", name)
		}
	}
}
