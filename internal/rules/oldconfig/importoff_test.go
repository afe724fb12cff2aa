package oldconfig_test

import (
	"strings"
	"testing"
)

// An import switches nothing on. A verifier that was not switched on is left out.
func TestImportOfWhatIsNotOn(t *testing.T) {
	_, out, notes := imported(t, `{"tools": {"verifier": {"webhook": {"url": "https://x.example"}}}}`)
	if strings.Contains(out, "verifiers") {
		t.Errorf("a verifier that nobody switched on is on:\n%s", out)
	}
	wantNotes(t, notes, "was not switched on")
	p, _, _ := imported(t, `{"tools": {"verifier": {"enabled": true, "webhook": {"url": "https://x.example"}, "telegram": {"chatId": "1", "allowedUserIds": [1]}}}}`)
	if got := gatesOf(p, "any", "exec"); got != "webhook" {
		t.Errorf("verified by %q", got)
	}
	// An agent's webhook with only a timeout is imported, but the timeout for all agents applies.
	p, out, _ = imported(t, `{"tools": {"verifier": {"enabled": true, "webhook": {"url": "https://x.example", "timeout": 30}}},
		"agents": {"list": [{"id": "work", "tools": {"verifier": {"webhook": {"timeout": 5}}}}]}}`)
	var seconds []float64
	for _, v := range p.Verifiers("openclaw/work") {
		seconds = append(seconds, v.Timeout.Seconds())
	}
	if len(seconds) != 1 || seconds[0] != 30 || !strings.Contains(out, "timeout: 5s") {
		t.Errorf("waits %v:\n%s", seconds, out)
	}
}
