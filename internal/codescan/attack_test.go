package codescan_test

import (
	"testing"

	"github.com/floodmark/floodmark/internal/codescan"
)

// Texts that were once called harmless, with what they do.
func TestFoundByAttack(t *testing.T) {
	for text, l := range map[string]codescan.Language{
		// test programs give these to whoever asks for them by name
		"def test_a(tmpdir):\n    tmpdir.join('x')\n":                      codescan.Python,
		"def test_a(x):\n    x.sysfind('y').sysexec('z')\n":                codescan.Python,
		"def test_a(pytester):\n    pytester.makepyfile('x')\n":            codescan.Python,
		"def load_tests(a, b, c):\n    return a\n":                         codescan.Python,
		"x = loader.discover('../x')":                                      codescan.Python,
		"pytest_plugins = ['x']":                                           codescan.Python,
		"def test_a(request):\n    request.getfixturevalue('monkeypatch')": codescan.Python,
		// names of a file's own imports
		"run(['id'])":           codescan.Python,
		"run_cmd('id')":         codescan.Python,
		"exec('id')":            codescan.JavaScript,
		"runShell('id')":        codescan.JavaScript,
		"$`rm -rf src`":         codescan.JavaScript,
		"out := runCmd(\"id\")": codescan.Golang,
		"x = shell(\n'id')":     codescan.Python,
		"await sh(`id`)":        codescan.JavaScript,
		"expect(x).toMatchFileSnapshot(\"src/x.js\")": codescan.JavaScript,
		// an edit can put another name behind such a dot
		"y = (x.\n  foo)":  codescan.Python,
		"y = x. foo":       codescan.Python,
		"y = x.\\\nfoo":    codescan.Python,
		"y = x.\n  foo()":  codescan.JavaScript,
		"y = x?. foo":      codescan.JavaScript,
		"y := x.\n\tfoo()": codescan.Golang,
		// an edit can make code of a comment or a string
		"# please exec now (x)": codescan.Python,
		"x = 'please exec now'": codescan.Python,
		"// please require now": codescan.JavaScript,
		"const x = `Function`":  codescan.JavaScript,
		// what is required is run, whatever it is called
		"require('./notes.txt')":             codescan.JavaScript,
		"import './a/../../../x.js'":         codescan.JavaScript,
		"import './node_modules/x/index.js'": codescan.JavaScript,
		"module.paths.push('x')":             codescan.JavaScript,
		// a name that is not the counter it looks like
		"let i = 0;\nclass A { get(i): any { return f[i] } }": codescan.JavaScript,
		"var i = 0; this.i = 'a' + 'b'; f[i]":                 codescan.JavaScript,
		// examples in notes are run
		">>> x":                  codescan.Prose,
		"    std::fs::remove(x)": codescan.Prose,
		"import os":              codescan.Prose,
		"    require('x')":       codescan.Prose,
	} {
		if codescan.Inert(l, text) {
			t.Errorf("%s: inert %q", l, text)
		}
	}
}

// Texts that make code of the project act, which were once called harmless.
func TestSteeringFoundByAttack(t *testing.T) {
	for text, l := range map[string]codescan.Language{
		// files and functions of the project that act by custom
		"import './a.js'":                            codescan.JavaScript,
		"import { a } from './scripts/a.js'":         codescan.JavaScript,
		"import { a } from '../bin/a.js'":            codescan.JavaScript,
		"import { a } from '../src/deploy-all.js'":   codescan.JavaScript,
		"import { a } from '../src/publish.js'":      codescan.JavaScript,
		"func TestX(t *testing.T) { Deploy(\"x\") }": codescan.Golang,
		"wipe_all()": codescan.Python,
		// a constant that code of the project may hand to a shell
		"CMD = 'rm -rf .'\n":     codescan.Python,
		"x = 'tool --all'\n":     codescan.Python,
		"const c = \"rm -r .\";": codescan.JavaScript,
		"\t\"rm -rf .\",\n":      codescan.Golang,
	} {
		if codescan.Inert(l, text) {
			t.Errorf("%s: inert %q", l, text)
		}
	}
}

// Programs that do more than was once said of them.
func TestProgramsFoundByAttack(t *testing.T) {
	for _, text := range []string{
		"require('vitest')", "const { run } = require('node:test'); run({ files: ['x'] })", "require('@jest/globals')",
		"const fs = require('fs'); const f = 'a'; const o = { readFileSync(f) { fs.writeFileSync(f, 'x') } }; o.readFileSync('b')",
		"const fs = require('fs'); function readFileSync(x) {}; readFileSync('b')",
		"require('fs').readFileSync('a', { flag: 'w+' })", "require('fs').readFileSync('a', ...x)", "module.paths.push('x')",
		"var i = 0; this.i = 'a' + 'b'; f[i]",
	} {
		if r := codescan.Script(codescan.JavaScript, text); r.Understood {
			t.Errorf("understood %q: %+v", text, r)
		}
	}
}

// What is beside them stays harmless.
func TestBesideWhatAnAttackFound(t *testing.T) {
	for text, l := range map[string]codescan.Language{
		"def run_all(items):\n    return total(items)": codescan.Python, "from . import rates": codescan.Python, "from .. import rates": codescan.Python,
		"function runAll(x) { return total(x); }": codescan.JavaScript, "import a from \"../x/cart.js\"": codescan.JavaScript, "module.exports = { a };": codescan.JavaScript,
		"import a from \"./cart.json\"":      codescan.JavaScript,
		"t.Run(name, func(t *testing.T) {})": codescan.Golang, "func runCmd(x int) int { return x }": codescan.Golang, "x.(type)": codescan.Golang,
		"x = 'a - b, non-zero -1 --'\n": codescan.Python, "x = ' -'": codescan.Python, "import { a } from './binary.js'": codescan.JavaScript,
		"# Notes\n\nPlease open the file.\n": codescan.Prose, "let i = 0; f(i); a[i]": codescan.JavaScript,
	} {
		if !codescan.Inert(l, text) {
			t.Errorf("%s: not inert %q", l, text)
		}
	}
}

// Files that tools follow have no language.
func TestFollowedFiles(t *testing.T) {
	for _, file := range []string{
		"dev-requirements.txt", "requirements/dev.txt", "/a/requirements/x/y.txt", "test_constraints.txt", "deps.txt",
		"vendor/modules.txt", "x.egg-info/entry_points.txt", "meson_options.txt",
		"karma.conf.js", "jest.preset.js", "vitest.workspace.ts", "docs/conf.py", "app/settings.py", "tasks.py",
		"testdata/script/a.txt", "/p/tests/cases/a.csv", "x/__fixtures__/a.md", "Spec/a.txt",
	} {
		if l := codescan.Of(file); l != "" {
			t.Errorf("%s is %s", file, l)
		}
	}
}

// Folders that only sound like those of tests hold notes.
func TestNotesStayNotes(t *testing.T) {
	for _, file := range []string{"docs/a.md", "contest/a.md", "latest/a.txt", "testdata.md", "settings.md"} {
		if l := codescan.Of(file); l != codescan.Prose {
			t.Errorf("%s is %q", file, l)
		}
	}
}
