package protect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testProgram = "/opt/floodmark/bin/floodmark"

// listOf returns the list of a client's servers, with the gateway of the tests.
func listOf(t testing.TB, client string) serverList {
	t.Helper()
	k, err := clientOf(client)
	if err != nil {
		t.Fatal(err)
	}
	return *k.serversIn(Machine{Program: testProgram, Gateway: []string{"--socket", "/run/user/1000/floodmark/hook.sock"}})
}

// nastyServers returns unusual files with tool servers as people have them.
func nastyServers(client string) map[string]string {
	switch client {
	case "codex":
		return map[string]string{
			"none": "model = \"x\"\n", "empty": "",
			"table":    "# mine\n[mcp_servers.a]\ncommand = \"npx\" # why\nargs = [\"-y\", \"pkg\"]\n\n[mcp_servers.a.env]\nK = \"v\"\n",
			"no args":  "[mcp_servers.a]\ncommand = \"srv\" # why\nenabled = false\n",
			"no eol":   "[mcp_servers.a]\ncommand = \"srv\"",
			"empty []": "[mcp_servers.a]\ncommand = 'C:\\srv'\nargs = [ ]\n",
			"windows":  "[mcp_servers.a]\r\ncommand = \"srv\"\r\n\r\n[x]\r\ny = 1\r\n",
			"lines":    "[mcp_servers.\"a b\"]\nargs = [ # first\n  \"-y\", # yes\n  'p\\q',\n]\ncommand = \"\"\"npx\"\"\"\n",
			"dotted":   "mcp_servers.a.command = \"x\"\nmcp_servers.a.args = [\"1\"]\nmcp_servers.b.command = \"y\"\n[features]\n",
			"inline":   "[mcp_servers]\na = { command = \"x\", args = [\"1\"], env = { K = \"command\" } }\nb = { command = \"y\", cwd = \"/\" }\nc = {command=\"z\", args=[]}\n",
			"deep":     "mcp_servers = { a = { command = \"x\", args = [\"[\", \"]\"] }, u = { url = \"https://mcp.example/\" } }\n",
			"mark":     "\ufeff[mcp_servers.a]\ncommand = \"x\"\nargs = []\n",
			"remote":   "[mcp_servers.r]\nurl = \"https://mcp.example/\"\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"--\", \"y\"]\n",
		}
	case "opencode":
		return map[string]string{
			"none": "{}", "empty": "",
			"local":   "{\n  \"mcp\": {\n    \"a\": { \"type\": \"local\", \"command\": [\"npx\", \"-y\", \"pkg\"], \"enabled\": true }, // mine\n  },\n}\n",
			"lines":   "{\"mcp\": {\"a b\": {\"type\": \"local\", \"command\": [\n  // first\n  \"npx\" ,\n  \"x\",\n ], \"environment\": {\"K\": \"v\"}}}}",
			"compact": `{"mcp":{"a":{"type":"local","command":["srv"]},"r":{"type":"remote","url":"https://mcp.example/"},"off":{"enabled":false}}}`,
			"second":  "{\"mcp\": {\"servers\": {\"a\": {\"type\": \"local\", \"command\": [\"npx\", \"x\"]}}}}",
			"odd":     `{"mcp": {"a": {"command": "npx x"}, "b": 1, "c": {"command": []}, "d": {"command": [1]}}}`,
		}
	}
	key := map[string]string{"vscode": "servers"}[client]
	if key == "" {
		key = "mcpServers"
	}
	list := map[string]string{
		"none": "{}", "empty": " \n",
		"usual":   "{\n  \"KEY\": {\n    \"a\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"pkg\"\n      ],\n      \"env\": { \"TOKEN\": \"t\" }\n    }\n  }\n}\n",
		"no args": "{\n  \"KEY\": {\n    \"a\": {\n      \"command\": \"srv\"\n    },\n    \"b\": { \"command\": \"srv\", \"disabled\": true }\n  }\n}\n",
		"compact": `{"KEY":{"a":{"command":"np\u0078","args":["-y","pkg"]},"b":{"command":"srv"},"c":{"args":[],"command":"srv"}}}`,
		"tabs":    "{\r\n\t\"KEY\": {\r\n\t\t\"a b\" : { \"type\": \"stdio\", \"args\" : [ \"x\" ] , \"command\" : \"srv\" }\r\n\t}\r\n}",
		"comment": "// mine\n{ \"KEY\": { // servers\n  /* a */ \"a\": {\"command\": /* c */ \"srv\" /* d */, // e\n   \"args\": [ /* none */ ], }, \n }, } // end",
		"remote":  `{"KEY": {"r": {"type": "http", "url": "https://mcp.example/"}, "s": {"httpUrl": "https://mcp.example/"}, "a": {"command": "x", "args": ["--", "y"]}}}`,
		"twice":   `{"KEY": {"a": {"command": "x", "args": ["1"]}}, "KEY": {"a": {"command": "y", "args": ["2"]}}}`,
		"unlike":  `{"KEY": {"a": {"command": ""}}, "KEY": {"a": {"command": "", "args": []}}}`, // found by the fuzzer
		"odd":     `{"KEY": {"a": {"command": 1}, "b": {"command": "x", "args": "y"}, "c": {"command": "x", "args": [1]}, "d": null, "e": {}, "f": {"command": "x", "args": null}}}`,
		"mark":    "\ufeff{ \"KEY\": {\"a\": {\"command\": \"x\", \"args\": [\"\"]}}}",
		"others":  `{"KEY": [], "other": {"KEY": {"a": {"command": "not a server"}}}, "mcp": 1}`,
	}
	if client == "claude-code" {
		list["projects"] = "{\"numStartups\": 3, \"projects\": {\"/home/u/p\": {\"history\": [], \"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"1\"]}}}, \"/q\": {\"mcpServers\": {}}},\n \"mcpServers\": {}}"
	}
	for name, text := range list {
		list[name] = strings.ReplaceAll(text, "KEY", key)
	}
	return list
}

// In any file each command that can be behind the gateway is put there, and nothing else changes. A
// second time changes nothing. Undoing it restores the old file, byte for byte.
func TestServersGoThereAndBack(t *testing.T) {
	for _, c := range Clients() {
		l := listOf(t, c.Name)
		for name, text := range nastyServers(c.Name) {
			t.Run(c.Name+" "+name, func(t *testing.T) { checkServers(t, l, text) })
		}
	}
}

func checkServers(t fataler, l serverList, text string) {
	t.Helper()
	old := content{true, []byte(text)}
	_, bare := cutMark(old.data)
	was, err := l.entries(bare)
	if err != nil {
		return // such a file is left alone
	}
	with, err := l.wrap(old)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	_, fresh := cutMark(with.data)
	now, err := l.entries(fresh)
	if err != nil || len(now) != len(was) {
		t.Fatalf("%v, %d servers of %d: %s", err, len(now), len(was), with.data)
	}
	for i, e := range now {
		words := was[i].all()
		call := l.gateway(e.all())
		switch {
		case was[i].odd != "" || len(words) == 0 || l.gateway(words) != nil:
		case call == nil || call.program != l.program || call.server != l.called(e.key) || !slices.Equal(call.place, l.place) || !slices.Equal(e.all()[call.dashes+1:], words):
			t.Fatalf("%q calls %q, was %q", e.key, e.all(), words)
		}
	}
	again, err := l.wrap(with)
	if err != nil || !again.same(with) {
		t.Fatalf("the second time (%v)\n%s\nbecomes\n%s", err, with.data, again.data)
	}
	back, err := l.unwrap(with, &old)
	byHand := slices.ContainsFunc(was, func(e entry) bool { return l.gateway(e.all()) != nil }) // unwrap removes it as well
	if err != nil || !back.same(old) && !byHand {
		t.Fatalf("taken back (%v):\n%q\nwas\n%q\nwith\n%q", err, back.data, old.data, with.data)
	}
	unknown, err := l.unwrap(with, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, with.data)
	}
	_, direct := cutMark(unknown.data)
	then, err := l.entries(direct)
	if err != nil {
		t.Fatalf("%v: %s", err, direct)
	}
	for i, e := range then {
		if l.gateway(was[i].all()) == nil && !slices.Equal(e.all(), was[i].all()) {
			t.Fatalf("%q starts %q, was %q", e.key, e.all(), was[i].all())
		}
	}
}

// The changed files of the clients look as written here.
func TestServersAreWrittenSo(t *testing.T) {
	sock := "--socket\", \"/run/user/1000/floodmark/hook.sock\", \"--"
	for _, c := range []struct{ client, old, want string }{
		{
			"cursor", "{\n  \"mcpServers\": {\n    \"git hub\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\"\n      ]\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"git hub\": {\n      \"command\": \"" + testProgram + "\",\n      \"args\": [\n        \"mcp\", \"wrap\", \"--server\", \"git hub\", \"" + sock + "\", \"npx\",\n        \"-y\"\n      ]\n    }\n  }\n}\n",
		},
		{
			"claude-desktop", `{"mcpServers":{"a":{"command":"srv"}}}`,
			`{"mcpServers":{"a":{"command":"` + testProgram + `","args":["mcp", "wrap", "--server", "a", "` + sock + `", "srv"]}}}`,
		},
		{
			"vscode", "{ \"servers\": {\n\"a\": { \"type\": \"stdio\", \"command\": \"srv\" }}}",
			"{ \"servers\": {\n\"a\": { \"type\": \"stdio\", \"command\": \"" + testProgram + `", "args": ["mcp", "wrap", "--server", "a", "` + sock + "\", \"srv\"] }}}",
		},
		{
			"codex", "[mcp_servers.git-hub]\ncommand = 'srv' # mine\nenabled = false\n",
			"[mcp_servers.git-hub]\ncommand = \"" + testProgram + "\" # mine\nargs = [\"mcp\", \"wrap\", \"--server\", \"git_hub\", \"" + sock + "\", 'srv'] " + serversTag + "\nenabled = false\n",
		},
		{
			"opencode", `{"mcp": {"a": {"type": "local", "command": ["npx", "x"]}}}`,
			`{"mcp": {"a": {"type": "local", "command": ["` + testProgram + `", "mcp", "wrap", "--server", "a", "` + sock + `", "npx", "x"]}}}`,
		},
	} {
		got, err := listOf(t, c.client).wrap(content{true, []byte(c.old)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got.data)); diff != "" {
			t.Errorf("%s: %s", c.client, diff)
		}
	}
}

// An entry that calls the gateway stays, wherever our program is. It is changed only if it calls
// the gateway for another server or another monitor, or if the program is not ours.
func TestEntriesThatCallTheGateway(t *testing.T) {
	dir := t.TempDir()
	program, link, other := filepath.Join(dir, "floodmark"), filepath.Join(dir, "fm"), filepath.Join(dir, "x", "floodmark")
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{program, other} {
		if err := os.WriteFile(f, []byte(f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	l := listOf(t, "cursor")
	l.program, l.place = program, []string{"--socket", "/s"}
	ours := []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--", "srv", "--", "x"}
	for name, c := range map[string]struct{ words, want []string }{
		"ours":         {ours, ours},
		"by a link":    {append([]string{link}, ours[1:]...), append([]string{link}, ours[1:]...)},
		"another one":  {append([]string{other}, ours[1:]...), ours},
		"moved":        {append([]string{"/gone/floodmark"}, ours[1:]...), ours},
		"by PATH":      {append([]string{"floodmark"}, ours[1:]...), ours},
		"other server": {[]string{program, "mcp", "wrap", "--server", "b", "--socket", "/s", "--", "srv", "--", "x"}, ours},
		"joined":       {[]string{program, "mcp", "wrap", "--server=a", "--socket=/s", "--", "srv"}, []string{program, "mcp", "wrap", "--server=a", "--socket=/s", "--", "srv"}},
		"no server":    {[]string{program, "mcp", "wrap", "--", "srv", "--", "x"}, ours},
		"other socket": {[]string{program, "mcp", "wrap", "--server", "a", "--socket", "/t", "--", "srv", "--", "x"}, ours},
		"with a dir":   {[]string{program, "mcp", "wrap", "--server", "a", "--dir", "/d", "--", "srv"}, []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--", "srv"}},
		"with pins":    {[]string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--pins", "/p", "--", "srv"}, []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--", "srv"}},
		"more flags":   {[]string{program, "mcp", "wrap", "--more", "1", "--server", "b", "--", "srv"}, []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--more", "1", "--", "srv"}},
		"nothing":      {[]string{program, "mcp", "wrap", "--server", "b", "--"}, []string{program, "mcp", "wrap", "--server", "b", "--"}},
		"no dashes":    {[]string{program, "mcp", "wrap", "srv"}, []string{program, "mcp", "wrap", "srv"}},
		"not wrap":     {[]string{program, "mcp", "review"}, []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--", program, "mcp", "review"}},
		"alike":        {[]string{"/x/floodmark-mcp", "mcp", "wrap"}, []string{program, "mcp", "wrap", "--server", "a", "--socket", "/s", "--", "/x/floodmark-mcp", "mcp", "wrap"}},
	} {
		text := fmt.Sprintf(`{"mcpServers": {"a": {"command": %s, "args": [%s]}}}`, quote(c.words[0]), quotes(c.words[1:]))
		got, err := l.wrap(content{true, []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.entries(got.data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, list[0].all()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		checkServers(t, l, text)
	}
}

// The gateway is given the name of a server as the client's hooks spell it.
func TestNamesOfServers(t *testing.T) {
	for _, c := range []struct{ client, key, want string }{
		{"claude-code", "git.hub x-y_z", "git_hub_x-y_z"},
		{"claude-code", "github", "github"},
		{"codex", "brave-search", "brave_search"},
		{"codex", "a b", "a_b"},
		{"gemini-cli", "git hub", "git hub"},
		{"opencode", "git.hub", "git.hub"},
		{"cursor", "ü", "ü"},
		{"vscode", "io.github.x/y", "io.github.x/y"},
		{"vscode", "a\nb\u202ec", "a_b_c"},
		{"claude-desktop", "", "_"},
		{"cursor", "\xff", "_"},
		{"cursor", strings.Repeat("x", maxCalled), strings.Repeat("x", maxCalled)},
		{"cursor", strings.Repeat("x", maxCalled-1) + "ü", strings.Repeat("x", maxCalled-1)},
	} {
		if got := listOf(t, c.client).called(c.key); got != c.want {
			t.Errorf("%s: %q is called %q, want %q", c.client, c.key, got, c.want)
		}
	}
}

// For any file, nothing is lost and everything is restored.
func FuzzServers(f *testing.F) {
	names := Clients()
	for i, c := range names {
		for _, text := range nastyServers(c.Name) {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, client uint8, text string) {
		checkServers(t, listOf(t, names[int(client)%len(names)].Name), text)
	})
}
