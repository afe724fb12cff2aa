package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// The channels of seed 0, with missing metadata and sub-agents as the design
// has them.
func TestWhoSpeaks(t *testing.T) {
	p := load(t, user(`groups: {"slack:eng": shared, "G7": untrusted}`, `workspace: [/home/me/work/**]`, `sources: [{path: /srv/team/**, trust: shared}]`))
	sender := func(owner bool, id, group string) floodmark.Origin {
		return floodmark.Origin{Kind: floodmark.FromSender, Name: "discord", Sender: id, IsOwner: owner, Group: group}
	}
	for _, c := range []struct {
		name string
		o    floodmark.Origin
		want floodmark.Trust
	}{
		{"DM of the owner", sender(true, "1", ""), floodmark.Owner},
		{"DM of somebody else", sender(false, "2", ""), floodmark.External},
		{"owner in a server channel", sender(true, "1", "general"), floodmark.Shared},
		{"somebody in a server channel", sender(false, "2", "general"), floodmark.External},
		{"owner in a trusted group", sender(true, "1", "eng"), floodmark.Shared},
		{"cron, heartbeat", floodmark.Origin{Kind: floodmark.FromSystem}, floodmark.System},
		{"sub-agent", floodmark.Origin{Kind: floodmark.FromParent}, floodmark.External},
		{"webhook", floodmark.Origin{Kind: floodmark.FromSender, Name: "webhook"}, floodmark.Untrusted},
		{"no metadata", floodmark.Origin{}, floodmark.Untrusted},
		{"a kind nobody knows", floodmark.Origin{Kind: "oracle", IsOwner: true}, floodmark.Untrusted},
		{"group history", floodmark.Origin{Kind: floodmark.FromHistory, Name: "slack", Group: "general"}, floodmark.External},
		{"trusted group's history", floodmark.Origin{Kind: floodmark.FromHistory, Name: "slack", Group: "eng"}, floodmark.Shared},
		{"another channel's group of that name", floodmark.Origin{Kind: floodmark.FromHistory, Name: "irc", Group: "eng"}, floodmark.External},
		{"distrusted group's history", floodmark.Origin{Kind: floodmark.FromHistory, Name: "signal", Group: "G7"}, floodmark.Untrusted},
		{"pasted", floodmark.Origin{Kind: floodmark.FromPaste, IsOwner: true}, floodmark.External},
		{"quoted", floodmark.Origin{Kind: floodmark.FromQuote, IsOwner: true, Sender: "1"}, floodmark.External},
		{"quoted from nobody", floodmark.Origin{Kind: floodmark.FromQuote}, floodmark.Untrusted},
		{"tool definitions", floodmark.Origin{Kind: floodmark.FromDefinition}, floodmark.External},
		{"attachment", floodmark.Origin{Kind: floodmark.FromFile, Name: "AGENTS.md"}, floodmark.External},
		{"own file", floodmark.Origin{Kind: floodmark.FromFile, Place: "/home/me/work/x/AGENTS.md"}, floodmark.Local},
		{"the team's file", floodmark.Origin{Kind: floodmark.FromFile, Place: "/srv/team/AGENTS.md"}, floodmark.Shared},
		{"a detour", floodmark.Origin{Kind: floodmark.FromFile, Place: "/home/me/work/../Downloads/x"}, floodmark.External},
		{"unannounced", floodmark.Origin{Kind: floodmark.FromUnknown}, floodmark.Untrusted},
	} {
		if got := p.Classify(c.o).Trust; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPlaceLabel(t *testing.T) {
	keys := []string{
		`workspace: ["~/work/**", "/srv/me/*"]`,
		`sources: [{host: docs.example.com, trust: shared}, {host: "*.lan.example", trust: shared}, {host: bad.example, trust: untrusted}, {path: /srv/team/**, trust: shared}, {path: /srv/me/drop/**, trust: untrusted}]`,
	}
	assistant, coding := load(t, user(keys...)), load(t, user(append(keys, "profile: coding")...))
	fetched := floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}
	read := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}
	foreign := floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private}
	for _, c := range []struct {
		place             string
		kind              catalog.PathKind
		in                floodmark.Label
		assistant, coding floodmark.Trust
	}{
		{"docs.example.com", catalog.NoPath, fetched, floodmark.Shared, floodmark.Shared},
		{"https://DOCS.example.com:443/a/b", catalog.NoPath, fetched, floodmark.Shared, floodmark.Shared},
		{"docs.example.com.evil.example", catalog.NoPath, fetched, floodmark.Untrusted, floodmark.Untrusted},
		{"https://docs.example.com@evil.example/", catalog.NoPath, fetched, floodmark.Untrusted, floodmark.Untrusted},
		{"wiki.lan.example", catalog.NoPath, fetched, floodmark.Shared, floodmark.Shared},
		{"lan.example", catalog.NoPath, fetched, floodmark.Untrusted, floodmark.Untrusted},
		{"bad.example", catalog.NoPath, read, floodmark.Untrusted, floodmark.Untrusted},
		{"", catalog.NoPath, read, floodmark.Local, floodmark.Local},
		{"/home/me/work/a/b.go", catalog.Elsewhere, read, floodmark.Local, floodmark.Local},
		{"/home/you/work/a/b.go", catalog.Elsewhere, read, floodmark.External, floodmark.External},
		{"/~/work/a", catalog.Elsewhere, read, floodmark.Local, floodmark.Local},
		{"/srv/me/notes.md", catalog.Elsewhere, read, floodmark.Local, floodmark.Local},
		{"/srv/me/deep/notes.md", catalog.Elsewhere, read, floodmark.External, floodmark.External},
		{"/srv/me/drop/x", catalog.Elsewhere, read, floodmark.Untrusted, floodmark.Untrusted},
		{"/srv/team/x", catalog.Elsewhere, read, floodmark.Shared, floodmark.Shared},
		{"/project/x.go", catalog.InProject, read, floodmark.External, floodmark.Local},
		{"/etc/hosts", catalog.Elsewhere, read, floodmark.External, floodmark.External},
		{"/home/me/work/a/node_modules/x", catalog.Foreign, foreign, floodmark.External, floodmark.External},
		{"/srv/team/node_modules/x", catalog.Foreign, foreign, floodmark.External, floodmark.External},
		{"/home/me/work/a/.env", catalog.Secret, read, floodmark.Local, floodmark.Local},
	} {
		if got := assistant.PlaceLabel(c.in, c.place, c.kind, true, "/home/me"); got.Trust != c.assistant || got.Secrecy != c.in.Secrecy {
			t.Errorf("assistant: %s: %v, want %v", c.place, got, c.assistant)
		}
		if got := coding.PlaceLabel(c.in, c.place, c.kind, true, "/home/me"); got.Trust != c.coding {
			t.Errorf("coding: %s: %v, want %v", c.place, got, c.coding)
		}
	}
	if got := coding.PlaceLabel(read, "/project/x.go", catalog.InProject, false); got.Trust != floodmark.External {
		t.Errorf("a project nobody named: %v", got)
	}
	if got := coding.PlaceLabel(read, "/home/me/work/x", catalog.Elsewhere, true); got.Trust != floodmark.External {
		t.Errorf("a home nobody named: %v", got)
	}
	if !coding.ListsHost("docs.example.com") || coding.ListsHost("bad.example") || coding.ListsHost("evil.example") {
		t.Error("the list of hosts is wrong")
	}
}

func TestCautionAndTools(t *testing.T) {
	p := load(t, user("caution: {web_fetch: true, jira/read: true, 'mail/*': true}", "tools: [{agent: openclaw, tool: deploy, effect: run, returns: {trust: local, secrecy: internal}}]"))
	for _, c := range []struct {
		server, tool string
		want         bool
	}{{"", "web_fetch", true}, {"mcp", "web_fetch", true}, {"jira", "read", true}, {"", "read", false}, {"mail", "x", true}, {"jira", "write", false}} {
		if got := p.Caution(floodmark.ToolRef{Server: c.server, Name: c.tool}); got != c.want {
			t.Errorf("%s/%s: %v", c.server, c.tool, got)
		}
	}
	if fs := p.Tools(); len(fs) != 1 || len(fs[0].Profiles()) != 1 {
		t.Errorf("tools: %v", fs)
	}
}
