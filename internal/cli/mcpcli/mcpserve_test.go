package mcpcli

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/service/httpapi"
)

// Clients of the gateway are agents, so the gateway accepts only agents' tokens. An owner's token
// must not be in a client's settings.
func TestOnlyAgentsComeToTheGateway(t *testing.T) {
	tokens, err := httpapi.OpenTokens(filepath.Join(t.TempDir(), "tokens.json"), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	agent, kept, err := tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: "cursor"})
	if err != nil {
		t.Fatal(err)
	}
	owner, _, err := tokens.Create(httpapi.Token{Kind: httpapi.OwnerKind, Name: "anna", May: httpapi.OwnerMay})
	if err != nil {
		t.Fatal(err)
	}
	admit := admitAgent(tokens)
	if name, err := admit(agent); name != "cursor" || err != nil {
		t.Errorf("an agent: %q, %v", name, err)
	}
	for _, text := range []string{owner, "", "fm_agent_", agent + "0"} {
		if name, err := admit(text); err == nil {
			t.Errorf("%q came in as %q", text, name)
		}
	}
	if err := tokens.Revoke(kept.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(agent); err == nil {
		t.Error("a token that was taken back")
	}
}

// Of our environment a server gets only the usual variables.
func TestUsualEnv(t *testing.T) {
	env := map[string]string{"PATH": "/bin", "HOME": "/h", "API_TOKEN": "hush", "FLOODMARK_SESSION": "s", "XDG_STATE_HOME": "/s"}
	c := &cli.Console{Getenv: func(name string) string { return env[name] }}
	if got := usualEnv(c); !slices.Equal(got, []string{"HOME=/h", "PATH=/bin"}) {
		t.Errorf("%v", got)
	}
}
