package mcpcli

import (
	"strings"
	"testing"
)

func TestAServersNameFollowsFromItsCommand(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem /notes":           "filesystem",
		"npx -y @modelcontextprotocol/server-memory@2026.8.31":            "memory",
		"uvx mcp-server-git --repository /work":                           "git",
		"docker run -i --rm ghcr.io/github/github-mcp-server:1.2":         "github-mcp-server",
		"node /opt/tools/dist/notes.js --stdio":                           "notes",
		"/usr/local/bin/notes-mcp":                                        "notes-mcp",
		"python3 -m weather":                                              "weather",
		"env KEY=x npx thing":                                             "thing",
		"server-":                                                         "server-",
		"pnpm dlx mcp-postgres":                                           "postgres",
		"npx -y @scope/mcp-server-slack@latest --token-file /run/a.token": "slack",
	} {
		if got := serverName(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestNamesOfServersAreBounded(t *testing.T) {
	for name, ok := range map[string]bool{
		"": false, "notes": true, "my notes": true, "a\nb": false, "a\x1bb": false,
		strings.Repeat("x", maxServerName): true, strings.Repeat("x", maxServerName+1): false,
	} {
		if err := checkServerName(name); (err == nil) != ok {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}
