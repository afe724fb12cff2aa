package hostnames

import (
	"slices"
	"testing"
)

// A host is the project's own only if a text names it just in packages of that project.
func TestBelow(t *testing.T) {
	const remote = "git@git.example:team/bot.git"
	for text, want := range map[string][]string{
		`import "git.example/team/bot/bins"`: {"bins"}, "a\n\"git.example/team/bot\"\nx git.example/team/bot/a/b-c\n": {"", "a/b-c"}, "none": nil, `"Git.Example/team/bot/x"`: {"x"},
	} {
		if got, ok := Below(text, "git.example", remote); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"https://git.example/team/bot/raw/x", "//git.example/team/bot/x", "git.example/team/botx", "git.example/team/bot.evil/x", "git.example/team/bot/../../mallory/x", "git.example/team/bot/%2e%2e/x",
		"git.example/mallory/bot", "git.example", "git.example:8443/team/bot", "git@git.example:team/bot", "u:p@git.example/team/bot", "x.git.example/team/bot/a", "git.example/team/bot/a?x=y",
		"git.example/team/bot/a/$KEY", "git.example/team/bot/a git.example/evil", "git.example/team/bot/x.sh", "git.example/team/bot-evil",
		"git.example.attacker.example/team/bot", "agit.example/team/bot",
		"https://git．example/mallory/x", "\"git.example/team/bot/a\" https://git\u200b.example/mallory/x", "git。example/mallory/x", "R=git.example/team/bot", "${X}git.example/team/bot/a",
		"'git.example/team/bot''/../../mallory'", "\"git.example/team/bot\"/../../mallory", "'git.example/team/bot'$X", "\"git.example/team/bot\"+x",
	} {
		if got, ok := Below(text, "git.example", remote); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
	for remote, want := range map[string]bool{
		"https://git.example/team/bot": true, "https://git.example/team/bot.git/": true, "ssh://git@git.example:22/team/bot.git": true, "git.example:team/bot": true,
		"": false, "https://git.example/": false, "/srv/bot.git": false, "git@other.example:team/bot": false, "https://%": false, "git.example": false,
	} {
		if _, ok := Below("git.example/team/bot/a", "git.example", remote); ok != want {
			t.Errorf("%s: %v", remote, ok)
		}
	}
	if _, ok := Below("github.com/acme/bot/a", "github.com", "https://github.com/acme/bot"); ok {
		t.Error("strangers publish there")
	}
}
