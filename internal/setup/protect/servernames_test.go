package protect

import "testing"

// A server's name may look like a word of the gateway's command. It is still read back as a name.
func TestServersNamedLikeOurWords(t *testing.T) {
	for _, key := range []string{"--", "--server", "--socket", "--dir", "--pins", "--server=x", "-h", "--help", "mcp", "wrap", "$(x)", "a\\\"b", "a\\nb", "\\u202e", "a'b", "a\\\\", "//", "/* */", "#"} {
		for _, client := range Clients() {
			l := listOf(t, client.Name)
			for _, place := range [][]string{l.place, {"--dir", "/tmp/a -- b"}, {"--socket", "/tmp/--"}} {
				l.place = place
				text := map[string]string{
					"codex":    "[mcp_servers.\"" + key + "\"]\ncommand = \"srv\"\nargs = [\"--\", \"x\"]\n",
					"opencode": `{"mcp": {"` + key + `": {"type": "local", "command": ["srv", "--", "x"]}}}`,
					"vscode":   `{"servers": {"` + key + `": {"command": "srv", "args": ["--", "x"]}}}`,
				}[client.Name]
				if text == "" {
					text = `{"mcpServers": {"` + key + `": {"command": "srv", "args": ["--", "x"]}}}`
				}
				t.Run(client.Name+" "+key, func(t *testing.T) { checkServers(t, l, text) })
			}
		}
	}
}
