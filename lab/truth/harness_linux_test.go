package truth

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// someTrace is a trace as strace writes it, with interrupted calls, a child that appears before its
// parent's call is finished, failures, and names of descriptors.
const someTrace = `10 execve("/bin/bash", ["/bin/bash", "-c", "…"], 0x1 /* 9 vars */) = 0
10 openat(AT_FDCWD</home/dev/project>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
10 chdir("docs")                      = 0
10 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
11 openat(AT_FDCWD</home/dev/project/docs>, "a \"b\"\n", O_WRONLY|O_CREAT|O_TRUNC, 0666 <unfinished ...>
10 <... clone resumed>, child_tidptr=0x7f) = 11
11 <... openat resumed>)              = 3</home/dev/project/docs/a "b"\n>
11 unlink("../old.txt")               = 0
11 unlink("/etc/passwd")              = -1 EROFS (Read-only file system)
11 unlink("nothing")                  = -1 ENOENT (No such file or directory)
11 kill(1, SIGKILL)                   = -1 EPERM (Operation not permitted)
11 connect(3<UDP:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}, 16) = 0
11 execve("../script.sh", ["../script.sh"], 0x2 /* 9 vars */) = 0
11 openat(AT_FDCWD</home/dev/project/docs>, "tmp", O_RDWR|O_CREAT|O_EXCL, 0600) = 4</home/dev/project/docs/tmp>
11 rename("tmp", "done")              = 0
11 openat(AT_FDCWD</home/dev/project/docs>, "gone", O_RDWR|O_CREAT|O_EXCL, 0600) = 4</home/dev/project/docs/gone>
11 unlink("gone")                     = 0
12 execve("/usr/bin/python3", ["python3", "-c", "1"], 0x2 /* 9 vars */) = 0
13 execve("/usr/bin/python3", ["python3", "--version"], 0x2 /* 9 vars */) = 0
14 openat(AT_FDCWD</home/dev>, "k", O_RDONLY) = 3</home/dev/.ssh/id_rsa>
15 openat(AT_FDCWD</home/dev>, "/etc/shadow", O_RDONLY) = -1 EACCES (Permission denied)
`

func TestTraceIsRead(t *testing.T) {
	var got []string
	for _, e := range effectsOf(someTrace) {
		got = append(got, e.String())
	}
	want := []string{
		"code python3 -c 1 (by python3)",
		"delete /etc/passwd (by bash)",
		"delete /home/dev/project/old.txt (by bash)",
		"exec /home/dev/project/script.sh (by script.sh)",
		"net 127.0.0.1:53 (by bash)",
		"secret read /etc/shadow (by bash)",
		"secret read /home/dev/.ssh/id_rsa (by bash)",
		"signal 1 SIGKILL (by bash)",
		"write /home/dev/project/docs/a \"b\"\n (by bash)",
		"write /home/dev/project/docs/done (by script.sh)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// An effect of any kind must be found if the report leaves it out, and must not if the report
// covers it.
func TestWhatIsLeftOutIsFound(t *testing.T) {
	seen := effectsOf(someTrace)
	if missing := underEstimates(&shellscan.Report{Understood: true}, seen); len(missing) != len(seen) {
		t.Errorf("of %d effects a report that says nothing lacks %v", len(seen), missing)
	}
	for _, r := range []shellscan.Report{{}, {Understood: true, Effects: []shellscan.Effect{{Kind: shellscan.Execute}}}} {
		if missing := underEstimates(&r, seen); len(missing) != 0 {
			t.Errorf("%+v lacks %v", r, missing)
		}
	}
	said := []shellscan.Effect{
		{Kind: shellscan.Delete, Path: "/etc/passwd"},
		{Kind: shellscan.Delete, Path: "/home/dev", Tree: true},
		{Kind: shellscan.Fetch},
		{Kind: shellscan.Read, Path: "/*/shadow", Pattern: true},
		{Kind: shellscan.Admin, Path: "/nowhere"},
	}
	missing := underEstimates(&shellscan.Report{Understood: true, Effects: said}, seen)
	if len(missing) != 2 || missing[0].Kind != codes || missing[1].Kind != starts {
		t.Errorf("only what runs should lack: %v", missing)
	}
}

func TestPathsThatMatch(t *testing.T) {
	for _, x := range []struct {
		said shellscan.Effect
		path string
		want bool
	}{
		{shellscan.Effect{Path: "/a"}, "/a", true},
		{shellscan.Effect{Path: "/a"}, "/a/b", false},
		{shellscan.Effect{Path: "/a", Tree: true}, "/a/b", true},
		{shellscan.Effect{Path: "/a", Tree: true}, "/ab", false},
		{shellscan.Effect{Path: "/", Tree: true}, "/ab", true},
		{shellscan.Effect{}, "/ab", true},
		{shellscan.Effect{URL: "https://news.example/"}, "/ab", false},
		{shellscan.Effect{Path: "/a/*.txt", Pattern: true}, "/a/b.txt", true},
		{shellscan.Effect{Path: "/a/*.txt", Pattern: true}, "/a/b.txt/c", false},
		{shellscan.Effect{Path: "/a/*.txt", Pattern: true, Tree: true}, "/a/b.txt/c", true},
		{shellscan.Effect{Path: "/a/?.t[a-z]t", Pattern: true}, "/a/b.txt", true},
		{shellscan.Effect{Path: "/a/?.txt", Pattern: true}, "/a/.txt", false},
		{shellscan.Effect{Path: "/a/**/b.txt", Pattern: true}, "/a/b.txt", true},
		{shellscan.Effect{Path: "/a/**/b.txt", Pattern: true}, "/a/c/d/b.txt", true},
		{shellscan.Effect{Path: "/a/[", Pattern: true}, "/a/[", true},
		{shellscan.Effect{Path: "*", Pattern: true}, "/a/b.txt", true},
	} {
		if got := matches(x.said, x.path); got != x.want {
			t.Errorf("%+v and %s: %t", x.said, x.path, got)
		}
	}
}

func TestCorporaAreLarge(t *testing.T) {
	for name, want := range map[string]int{"lines": wantLines, "bypass": wantBypass, "everyday": wantEveryday} {
		all, err := readCorpus(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < want {
			t.Errorf("%s has %d lines, want %d", name, len(all), want)
		}
		known := map[string]bool{}
		for _, s := range all {
			if known[s.Line] {
				t.Errorf("%s: %q stands there twice", name, s.Line)
			}
			known[s.Line] = true
			if name != "lines" && s.Word == "" {
				t.Errorf("%s: %q has no word", name, s.Line)
			}
		}
	}
}

// The same seed must make the same lines, and every construct must be used often enough.
func TestGeneratorIsFairAndSeeded(t *testing.T) {
	a, b := newGenerator(7), newGenerator(7)
	count := map[string]int{}
	for range 4000 {
		x, y := a.next(), b.next()
		if x.Line != y.Line {
			t.Fatalf("%q and %q from one seed", x.Line, y.Line)
		}
		for _, c := range x.Constructs {
			count[c]++
		}
	}
	for _, c := range constructs() {
		if count[c] < 40 {
			t.Errorf("%s was used %d times in 4000 lines", c, count[c])
		}
	}
	if !slices.Contains(constructs(), "pipe") {
		t.Error("no rules")
	}
}
