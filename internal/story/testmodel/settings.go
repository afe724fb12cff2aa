package testmodel

import "fmt"

// Settings make an agent use the model: a file below its home, and environment variables. They were
// tried with each real program.
type Settings struct {
	File, Text string
	Env        []string
}

// SettingsOf returns the settings of an agent for the model at url. It reports false for an agent
// that cannot be run like this. The text is TOML for Codex and JSON for all others; a caller may
// add to it.
func SettingsOf(agent, url string) (Settings, bool) {
	switch agent {
	case "codex":
		return Settings{".codex/config.toml", codexSettings(url), []string{"SCRIPTED_KEY=none"}}, true
	case "copilot-cli":
		return Settings{".copilot/config.json", "{}", []string{
			"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url + "/v1",
			"COPILOT_PROVIDER_API_KEY=none", "COPILOT_MODEL=" + Name,
		}}, true
	case "gemini-cli":
		return Settings{".gemini/settings.json", geminiSettings, []string{
			"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true",
		}}, true
	case "openclaw":
		return Settings{".openclaw/openclaw.json", openclawSettings(url), nil}, true
	case "opencode":
		return Settings{".config/opencode/opencode.json", opencodeSettings(url), []string{
			"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		}}, true
	case "pi":
		return Settings{".pi/agent/models.json", piSettings(url), []string{"PI_OFFLINE=1"}}, true
	}
	return Settings{}, false
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
`, Name, url)
}

const geminiSettings = `{"security":{"auth":{"selectedType":"gemini-api-key"}},"telemetry":{"enabled":false},
"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"model":{"name":"gemini-2.5-flash"}}`

func openclawSettings(url string) string {
	return fmt.Sprintf(`{"agents":{"defaults":{"model":{"primary":"scripted/%[1]s"},"models":{"scripted/%[1]s":{}},"workspace":"~/work","skipBootstrap":true}},
"models":{"mode":"merge","providers":{"scripted":{"baseUrl":"%[2]s/v1","apiKey":"none","api":"openai-completions",
"models":[{"id":"%[1]s","name":"Scripted","reasoning":false,"input":["text"],"contextWindow":196608,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}},
"tools":{"profile":"coding","exec":{"security":"full","ask":"off"}}}`, Name, url)
}

func opencodeSettings(url string) string {
	return fmt.Sprintf(`{"autoupdate":false,"share":"disabled","model":"scripted/%[1]s","small_model":"scripted/%[1]s",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted","options":{"baseURL":"%[2]s/v1","apiKey":"none"},
"models":{"%[1]s":{"name":"Scripted","tool_call":true,"limit":{"context":128000,"output":8000}}}}}}`, Name, url)
}

func piSettings(url string) string {
	return fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":"%[2]s/v1","api":"openai-completions","apiKey":"none",
"models":[{"id":"%[1]s","name":"Scripted","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":8000,
"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`, Name, url)
}
