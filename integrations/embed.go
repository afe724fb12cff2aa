// Package integrations contains the files that connect each agent to the monitor: fragments of the
// agents' own settings, shims, and a description of what the hooks of each agent cover. It makes no
// decisions and writes nothing.
package integrations

import (
	"embed"
	"fmt"
)

//go:embed claude-code/settings.json copilot-cli/hooks.json cursor/hooks.json gemini-cli/settings.json
//go:embed codex/hooks.json codex/config.toml
//go:embed openclaw/entry.json5 openclaw/index.ts openclaw/openclaw.plugin.json openclaw/package.json openclaw/settings.json
//go:embed opencode/floodmark.ts opencode/opencode.json
//go:embed pi/floodmark.ts
//go:embed covers.yaml
var files embed.FS

// File returns a shipped file by its name below integrations, such as "codex/hooks.json".
func File(name string) ([]byte, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("shipped settings: %w", err)
	}
	return data, nil
}
