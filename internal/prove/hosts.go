package prove

import (
	"fmt"

	"github.com/floodmark/floodmark/internal/testmodel"
)

// A host is how an agent is run once, without a person, with a scripted model.
type host struct {
	// file is the one below home that is there before ours are, for the model
	// at url.
	file     string
	settings func(url string) string
	env      func(url string) []string
	args     []string
	// tool is the agent's own one for command lines, line its argument for them.
	tool, line string
}

const prompt = "Run the two commands."

// shell calls the agent's own tool for command lines.
func (h host) shell(command string) testmodel.Call {
	return testmodel.Call{Name: h.tool, Args: map[string]string{h.line: command, "description": "run"}}
}

// hostOf knows the agents that can be run here. Each way was measured.
func hostOf(agent string) (host, bool) {
	fixed := func(list ...string) func(string) []string { return func(string) []string { return list } }
	switch agent {
	case "codex":
		return host{
			file: ".codex/config.toml", settings: codexSettings, env: fixed("SCRIPTED_KEY=none"),
			args: []string{"exec", "--json", "--skip-git-repo-check", prompt}, tool: "exec_command", line: "cmd",
		}, true
	case "copilot-cli":
		return host{
			file: ".copilot/config.json", settings: func(string) string { return "{}" },
			env: func(url string) []string {
				return []string{
					"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1",
					"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=" + testmodel.Name,
				}
			},
			args: []string{"-p", prompt, "--allow-all-tools", "--output-format", "json", "--disable-client-telemetry"}, tool: "bash", line: "command",
		}, true
	case "gemini-cli":
		return host{
			file: ".gemini/settings.json", settings: func(string) string { return geminiSettings },
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			args: []string{"-p", prompt, "--yolo", "--skip-trust", "-o", "stream-json"}, tool: "run_shell_command", line: "command",
		}, true
	case "openclaw":
		return host{
			file: ".openclaw/openclaw.json", settings: openclawSettings, env: fixed(),
			args: []string{"agent", "--local", "--session-id", "canary", "--message", prompt, "--json"}, tool: "exec", line: "command",
		}, true
	case "opencode":
		return host{
			file: ".config/opencode/opencode.json", settings: opencodeSettings,
			// It looks for packages and would try for a minute.
			env:  fixed("npm_config_fetch_retries=0", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_MODELS_FETCH=1"),
			args: []string{"run", "--format", "json", "--auto", prompt}, tool: "bash", line: "command",
		}, true
	case "pi":
		return host{
			file: ".pi/agent/models.json", settings: piSettings, env: fixed("PI_OFFLINE=1"),
			args: []string{"-p", "--mode", "json", "--model", "scripted/" + testmodel.Name, prompt}, tool: "bash", line: "command",
		}, true
	}
	return host{}, false
}

func codexSettings(url string) string {
	return fmt.Sprintf(`model = %q
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
`, testmodel.Name, url)
}

const geminiSettings = `{"security":{"auth":{"selectedType":"gemini-api-key"}},"telemetry":{"enabled":false},
"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"model":{"name":"gemini-2.5-flash"}}`

func openclawSettings(url string) string {
	return fmt.Sprintf(`{"agents":{"defaults":{"model":{"primary":"scripted/%[1]s"},"models":{"scripted/%[1]s":{}},"workspace":"~/work","skipBootstrap":true}},
"models":{"mode":"merge","providers":{"scripted":{"baseUrl":"%[2]s/v1","apiKey":"none","api":"openai-completions",
"models":[{"id":"%[1]s","name":"Scripted","reasoning":false,"input":["text"],"contextWindow":196608,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}},
"tools":{"profile":"coding","exec":{"security":"full","ask":"off"}}}`, testmodel.Name, url)
}

func opencodeSettings(url string) string {
	return fmt.Sprintf(`{"autoupdate":false,"share":"disabled","model":"scripted/%[1]s","small_model":"scripted/%[1]s",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%[2]s/v1","apiKey":"none"},
"models":{"%[1]s":{"name":"Scripted","tool_call":true,"limit":{"context":128000,"output":8000}}}}}}`, testmodel.Name, url)
}

func piSettings(url string) string {
	return fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":"%[2]s/v1","api":"openai-completions","apiKey":"none",
"models":[{"id":"%[1]s","name":"Scripted","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`, testmodel.Name, url)
}
