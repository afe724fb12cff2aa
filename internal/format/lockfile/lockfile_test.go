package lockfile

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const h1 = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

func sri() string { return "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, 64)) }

func sha256Of(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// said returns a short form of a list: «name version», and how many entries were left out.
func said(l List) string {
	var b strings.Builder
	for _, p := range l.Packages {
		fmt.Fprintf(&b, "%s %s, ", p.Name, p.Version)
	}
	return fmt.Sprintf("%sleft out %d", b.String(), l.LeftOut)
}

func read(t *testing.T, e Ecosystem, text string) List {
	t.Helper()
	l, err := Read(e, []byte(text), Host{OS: "linux", CPU: "x64", Libc: "glibc", Registry: "https://npm.corp.example/all/"})
	if err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return l
}

func TestGo(t *testing.T) {
	for line, want := range map[string]string{
		"": "left out 0", "\n\n": "left out 0",
		"golang.org/x/mod v0.1.0 " + h1:                "golang.org/x/mod v0.1.0, left out 0",
		"golang.org/x/mod v0.1.0/go.mod " + h1:         "golang.org/x/mod v0.1.0/go.mod, left out 0",
		"a.example/B/v2 v2.0.0+incompatible " + h1:     "a.example/B/v2 v2.0.0+incompatible, left out 0",
		"a.example v0.0.0-20260102030405-abcdef " + h1: "a.example v0.0.0-20260102030405-abcdef, left out 0",
	} {
		if got := said(read(t, Go, line)); got != want {
			t.Errorf("%q: %s", line, got)
		}
	}
	for _, line := range []string{
		"golang.org/x/mod v0.1.0", "golang.org/x/mod v0.1.0 " + h1 + " more", "golang.org/x/mod v0.1.0 h1:short",
		"golang.org/x/mod v0.1.0 h2:" + h1[3:], "golang.org/x/mod 0.1.0 " + h1, "golang.org/x/mod v0.1 " + h1,
		"golang.org/x/mod v0.1.0/x " + h1, "golang.org/x/mod v01.1.0 " + h1, "golang.org/x/mod v0.1.0+meta " + h1,
		"std v0.1.0 " + h1, "Upper.example/a v0.1.0 " + h1, "a.example/../b v0.1.0 " + h1, "a.example//b v0.1.0 " + h1,
		"a.example/b/ v0.1.0 " + h1, "/a.example v0.1.0 " + h1, "a.example/b?x v0.1.0 " + h1, "a.example/%2e v0.1.0 " + h1,
		"a.example:80/b v0.1.0 " + h1, "u@a.example/b v0.1.0 " + h1, "a.example/\x00 v0.1.0 " + h1, "\u0430.example/b v0.1.0 " + h1,
		"a.example/" + strings.Repeat("b", maxName) + " v0.1.0 " + h1, "a.example/b v0.1.0-" + strings.Repeat("b", maxVersion) + " " + h1,
		"a.example/.b v0.1.0 " + h1, "-a.example/b v0.1.0 " + h1, ".example/b v0.1.0 " + h1,
	} {
		if got := said(read(t, Go, line)); got != "left out 1" {
			t.Errorf("%.80q: %s", line, got)
		}
	}
}

// pinned returns a lock file with one package.
func pinned(folder, fields string) string {
	return fmt.Sprintf(`{"lockfileVersion":3,"packages":{"":{"name":"x"},%q:{%s}}}`, folder, fields)
}

func TestNpm(t *testing.T) {
	ok := `"integrity":"` + sri() + `","version":"1.2.3"`
	resolved := func(to string) string { return ok + `,"resolved":"` + to + `"` }
	const reg = "https://registry.npmjs.org/"
	for text, want := range map[string]string{
		pinned("node_modules/a", resolved(reg+"a/-/a-1.2.3.tgz")):                          "a 1.2.3, left out 0",
		pinned("node_modules/a/node_modules/@s/b", resolved(reg+"@s/b/-/b-1.2.3.tgz")):     "@s/b 1.2.3, left out 0",
		pinned("node_modules/a", `"name":"c",`+resolved(reg+"c/-/c-1.2.3.tgz")):            "c 1.2.3, left out 0",
		pinned("node_modules/a", resolved("https://npm.corp.example/all/a/-/a-1.2.3.tgz")): "a 1.2.3, left out 0",
		pinned("node_modules/a", ok):                                                   "a 1.2.3, left out 0",
		pinned("packages/mine", `"version":"1.0.0"`):                                   "left out 0",
		pinned("node_modules/mine", `"resolved":"packages/mine","link":true`):          "left out 0",
		pinned("node_modules/a", `"inBundle":true,"version":"1.0.0"`):                  "left out 0",
		pinned("node_modules/a", `"optional":true,"os":["darwin"],`+ok):                "left out 0",
		pinned("node_modules/a", `"optional":true,"os":["!linux"],`+ok):                "left out 0",
		pinned("node_modules/a", `"optional":true,"libc":["musl"],`+ok):                "left out 0",
		pinned("node_modules/a", `"optional":true,"os":["!win32"],"cpu":["x64"],`+ok):  "a 1.2.3, left out 0",
		pinned("node_modules/a", `"os":["darwin"],`+ok):                                "a 1.2.3, left out 0",
		`{"lockfileVersion":2,"packages":{},"dependencies":{"a":{"version":"1.0.0"}}}`: "left out 0",
	} {
		if got := said(read(t, Npm, text)); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, fields := range []string{
		resolved(reg + "b/-/b-1.2.3.tgz"), resolved(reg + "a/-/a-1.2.4.tgz"), resolved("http://registry.npmjs.org/a/-/a-1.2.3.tgz"),
		resolved("https://registry.npmjs.org.evil.example/a/-/a-1.2.3.tgz"), resolved("https://registry.npmjs.org@evil.example/a/-/a-1.2.3.tgz"),
		resolved("https://evil.example/a/-/a-1.2.3.tgz"), resolved(reg + "a/-/a-1.2.3.tgz?leak"), resolved(reg + "a/-/a-1.2.3.tgz#leak"),
		resolved("git+ssh://git@github.com/a/a.git#abc"), resolved("file:../a"), resolved("https://REGISTRY.npmjs.org/a/-/a-1.2.3.tgz"),
		resolved("https://registry.npmjs.org:443/a/-/a-1.2.3.tgz"), resolved("https://registry.npmjs.\u043erg/a/-/a-1.2.3.tgz"),
		`"version":"1.2.3"`, `"version":"1.2","integrity":"` + sri() + `"`, `"version":"1.2.3","integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="`,
		`"version":"../../x","integrity":"` + sri() + `"`, `"version":"1.2.3-a b","integrity":"` + sri() + `"`, `"name":"../x",` + ok, `"name":"a%2fb",` + ok,
		`"name":"@a",` + ok, `"name":"@a/b/c",` + ok, `"name":".a",` + ok, `"name":"_a",` + ok, `"name":"a\u0000b",` + ok, `"name":"a?b",` + ok,
		`"name":"` + strings.Repeat("a", maxName+1) + `",` + ok, `"integrity":"` + sri() + ` sha512-x","version":"1.2.3"`,
	} {
		if got := said(read(t, Npm, pinned("node_modules/a", fields))); got != "left out 1" {
			t.Errorf("%.120s: %s", fields, got)
		}
	}
	for _, text := range []string{"", "{}", "[]", `{"lockfileVersion":1,"dependencies":{}}`, `{"lockfileVersion":4}`, `{"lockfileVersion":3,"packages":[]}`} {
		if l, err := Read(Npm, []byte(text), Host{}); err == nil {
			t.Errorf("%s: %s", text, said(l))
		}
	}
}

func TestPip(t *testing.T) {
	hash := " --hash=" + sha256Of("a")
	for text, want := range map[string]string{
		"": "left out 0", "# a comment\n\n--require-hashes\n": "left out 0",
		"a==1.0" + hash:                               "a 1.0, left out 0",
		"Foo.Bar_baz==1.0" + hash:                     "foo-bar-baz 1.0, left out 0",
		"a[x,y] == 1.0 ; python_version < '3'" + hash: "a 1.0, left out 0",
		"a==1.0 \\\n   " + hash + " \\\n --hash=" + sha256Of("b") + "\n    # via b\n": "a 1.0, a 1.0, left out 0",
		"a==1!2.0.post1+cpu" + hash + "  # why":                                       "a 1!2.0.post1+cpu, left out 0",
	} {
		if got := said(read(t, PyPI, text)); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	for _, line := range []string{
		"a", "a==1.0", "a>=1.0" + hash, "a==1.*" + hash, "-r other.txt", "-e .", "--index-url https://evil.example/simple", "-i https://evil.example", "./a.whl" + hash,
		"a @ https://evil.example/a.whl" + hash, "https://evil.example/a.whl" + hash, "git+https://evil.example/a" + hash,
		"a==1.0 --hash=md5:" + strings.Repeat("a", 32), "a==1.0 --hash=" + sha256Of("A"), "a==1.0 --hash=sha256:aa", "a==1.0" + hash + " --config-settings=x",
		"../a==1.0" + hash, "a/b==1.0" + hash, "a%2f==1.0" + hash, "-a==1.0" + hash, "a==1.0/../../x" + hash, "a\x00==1.0" + hash, "\u0430==1.0" + hash,
		strings.Repeat("a", maxName+1) + "==1.0" + hash, "a==" + strings.Repeat("1", maxVersion+1) + hash, "a[x==1.0" + hash, "===1.0" + hash,
	} {
		if got := said(read(t, PyPI, line)); got != "left out 1" {
			t.Errorf("%.80q: %s", line, got)
		}
	}
}

func TestLimits(t *testing.T) {
	if _, err := Read(Go, make([]byte, MaxBytes+1), Host{}); err == nil {
		t.Error("a file that is too long is read")
	}
	var many strings.Builder
	for i := range MaxPackages + 1 {
		fmt.Fprintf(&many, "a.example/m v0.0.%d %s\n", i, h1)
	}
	if _, err := Read(Go, []byte(many.String()), Host{}); err == nil {
		t.Error("a file with too many packages is read")
	}
	if _, err := Read("cargo", nil, Host{}); err == nil {
		t.Error("a file that is not known is read")
	}
}

// Our own go.sum can be read.
func TestOurOwn(t *testing.T) {
	data, err := os.ReadFile("../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Read(Go, data, Host{})
	if err != nil || l.LeftOut > 0 || len(l.Packages) != strings.Count(string(data), "\n") || !slices.IsSortedFunc(l.Packages, compare) {
		t.Errorf("%v %d of %d, left out %d", err, len(l.Packages), strings.Count(string(data), "\n"), l.LeftOut)
	}
}

func TestKnown(t *testing.T) {
	for name, want := range map[string]Ecosystem{"go.sum": Go, "package-lock.json": Npm, "npm-shrinkwrap.json": Npm, "requirements.txt": PyPI, "yarn.lock": "", "go.mod": ""} {
		if e, ok := Known(name); e != want || ok != (want != "") {
			t.Errorf("%s: %s", name, e)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("go", []byte("golang.org/x/mod v0.1.0/go.mod "+h1))
	f.Add("npm", []byte(pinned("node_modules/@s/a", `"version":"1.2.3","integrity":"`+sri()+`"`)))
	f.Add("pypi", []byte("a[x]==1.0 \\\n --hash="+sha256Of("a")))
	f.Fuzz(func(t *testing.T, e string, data []byte) {
		l, err := Read(Ecosystem(e), data, Host{OS: "linux"})
		if err != nil && (len(l.Packages) > 0 || l.LeftOut > 0) {
			t.Fatal("an error comes with packages")
		}
		for i, p := range l.Packages {
			if i > 0 && compare(l.Packages[i-1], p) >= 0 {
				t.Fatalf("%v stands behind %v", p, l.Packages[i-1])
			}
			name := strings.TrimPrefix(p.Name, "@")
			if name == "" || !only(name, "-._~/") || strings.Contains("/"+p.Name+"/", "/../") || strings.Contains("/"+p.Name+"/", "//") || !only(p.Version, ".-+!_/") || strings.Contains(p.Version, "..") && p.Ecosystem != PyPI {
				t.Fatalf("%q is taken for a package", p)
			}
		}
	})
}
