package catalog

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for _, tc := range []struct{ value, base, home, want string }{
		{"a/b", "/p", "/h", "/p/a/b"},
		{"a/../b", "/p", "/h", "/p/b"},
		{"../a", "/p/q", "/h", "/p/a"},
		{"a", "", "/h", "a"},
		{"", "/p", "/h", "/p"},
		{" /a ", "/p", "/h", "/a"},
		{"/a//b/./c", "/p", "/h", "/a/b/c"},
		{`C:\a\b`, "/p", "/h", "C:/a/b"},
		{"C:/", "/p", "/h", "C:"},
		{"C:a", "/p", "/h", "/p/C:a"},
		{"C:", "/p", "/h", "/p/C:"},
		{`\\host\x`, "/p", "/h", "/host/x"},
		{"@/a", "/p", "/h", "/a"},
		{"@~/a", "/p", "/h", "/h/a"},
		{"@./a", "/p", "/h", "/p/a"},
		{"@a", "/p", "/h", "/p/@a"},
		{"@", "/p", "/h", "/p/@"},
		{"a@/b", "/p", "/h", "/p/a@/b"},
		{"file:///a%20b", "/p", "/h", "/a b"},
		{"FILE:/a", "/p", "/h", "/a"},
		{"file://localhost/a", "/p", "/h", "/a"},
		{"file:", "/p", "/h", "/p"},
		{"file:///%zz", "/p", "/h", "/%zz"},
		{"file:a", "/p", "/h", "/p/a"},
		{"file:?x", "/p", "/h", "/p"},
		{"file:///a?x", "/p", "/h", "/a"},
		{"file://other/a", "/p", "/h", "/a"},
		{"file://other", "/p", "/h", "/p"},
		{"~", "/p", "/h", "/h"},
		{"~/a", "/p", "/h", "/h/a"},
		{"~/a", "/p", "", "/~/a"},
		{"~", "/p", "", "/~"},
		{"~u", "/p", "/h", "/~"},
		{"~u/a/b", "/p", "/h", "/~/a/b"},
		{"a~", "/p", "/h", "/p/a~"},
		{"$HOME/a", "/p", "/h", "/h/a"},
		{"${HOME}/a", "/p", "/h", "/h/a"},
		{`%USERPROFILE%\a`, "/p", "/h", "/h/a"},
		{"$env:USERPROFILE", "/p", "/h", "/h"},
		{"$HOMER/a", "/p", "/h", "/p/$HOMER/a"},
	} {
		if got := clean(tc.value, tc.base, tc.home); got != tc.want {
			t.Errorf("clean(%q, %q, %q) = %q, want %q", tc.value, tc.base, tc.home, got, tc.want)
		}
	}
}

func TestHomeOf(t *testing.T) {
	for _, tc := range []struct {
		path, home string
		want       int
	}{
		{"/", "", -1},
		{"", "", -1},
		{"/~", "", 1},
		{"/~/x", "", 1},
		{"/root", "", 1},
		{"/root/x", "/home/u", 1},
		{"/rooty", "", -1},
		{"/home", "", -1},
		{"/home/u", "", 2},
		{"/home/u/x", "", 2},
		{"/users/u", "", 2},
		{"/var", "", -1},
		{"/var/root", "", 2},
		{"/var/lib", "", -1},
		{"/srv/root", "", -1},
		{"c:", "", -1},
		{"c:/users", "", -1},
		{"c:/users/u", "", 3},
		{"c:/other/u", "", -1},
		{"cc/users/u", "", -1},
		{"/srv/h/u/x", "/srv/h/u", 3},
		{"/srv/h/u/x", "/Srv/H/U/", 3},
		{"/srv/h/u", "/srv/h/u", 3},
		{"/srv/h/ux", "/srv/h/u", -1},
		{"/srv/x", "/", -1},
	} {
		if got := homeOf(tc.path, splitPath(tc.path, nil), tc.home); got != tc.want {
			t.Errorf("homeOf(%q, %q) = %d, want %d", tc.path, tc.home, got, tc.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		path, folder string
		want         bool
	}{
		{"/a/b", "/a", true},
		{"/a/b", "/a/", true},
		{"/a", "/a", true},
		{"/ab", "/a", false},
		{"/a", "/a/b", false},
		{"/b/a", "/a", false},
		{"/a", "", false},
		{"/a", "/", false},
		{"", "", false},
	} {
		if got := within(tc.path, tc.folder); got != tc.want {
			t.Errorf("within(%q, %q) = %v", tc.path, tc.folder, got)
		}
	}
}

func TestPathKindsHaveNames(t *testing.T) {
	var got []string
	for k := NoPath; k <= SelfProtected+1; k++ {
		got = append(got, k.String())
	}
	if s := strings.Join(got, " "); s != "no-path in-project elsewhere foreign secret instructs self-protected invalid" {
		t.Error(s)
	}
}
