package catalog

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

//go:embed testdata/published.txt
var publishedTools string

// The published tools of the most used servers are described, except those named here; the guide
// gives the number.
func TestPublishedToolsAreDescribed(t *testing.T) {
	var missing []string
	servers, tools := 0, 0
	for line := range strings.Lines(publishedTools) {
		parts := strings.Split(line, " | ")
		if len(parts) != 3 {
			continue
		}
		servers++
		for name := range strings.FieldsSeq(parts[2]) {
			tools++
			if _, known := shipped(t).Lookup(floodmark.ToolRef{Server: parts[0], Name: name}); !known {
				missing = append(missing, parts[0]+"/"+name)
			}
		}
	}
	if want := []string{"sentry/onboarding_status_update"}; !slices.Equal(missing, want) {
		t.Errorf("not described: %v, want %v", missing, want)
	}
	guide, err := os.ReadFile("../docs/guide/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d of the %d tools that %d much used servers publish", tools-len(missing), tools, servers); !strings.Contains(string(guide), want) {
		t.Errorf("docs/guide/mcp.md does not say %q", want)
	}
}

func callOf(t *testing.T, server, tool, args string) Use {
	t.Helper()
	call := hook.Call{Server: server, Name: tool, Args: []byte(args)}
	leaves, err := call.Leaves()
	if err != nil {
		t.Fatal(err)
	}
	return shipped(t).Classify(floodmark.ToolRef{Server: server, Name: tool}, leaves, nil, Places{})
}

// In servers that both read and act, a tool that acts is not described as one that reads.
func TestPublishedToolsThatAct(t *testing.T) {
	for tool, want := range map[string]floodmark.Effect{
		"chrome-devtools/evaluate_script": floodmark.Run, "chrome-devtools/install_extension": floodmark.Admin, "chrome-devtools/click": floodmark.Send,
		"supabase/execute_sql": floodmark.Change, "supabase/apply_migration": floodmark.Run, "supabase/create_project": floodmark.Send,
		"desktop-commander/start_process": floodmark.Run, "desktop-commander/interact_with_process": floodmark.Run, "desktop-commander/set_config_value": floodmark.Admin,
		"firecrawl/firecrawl_interact": floodmark.Run, "firecrawl/firecrawl_parse": floodmark.Send, "slack/usergroups_users_update": floodmark.Send,
		"playwright/browser_resume": floodmark.Run, "postgres/analyze_query_indexes": floodmark.Send,
	} {
		server, name, _ := strings.Cut(tool, "/")
		p, known := shipped(t).Lookup(floodmark.ToolRef{Server: server, Name: name})
		if !known || !slices.Contains(p.Effects(), want) {
			t.Errorf("%s is no %s", tool, want)
		}
	}
	for args, want := range map[string]bool{`{"url":"https://a.example"}`: false, `{"url":"https://a.example","initScript":"x"}`: true} {
		if u := callOf(t, "chrome-devtools", "navigate_page", args); slices.Contains(u.Effects, floodmark.Run) != want {
			t.Errorf("%s: %v", args, u.Effects)
		}
	}
	if u := callOf(t, "firecrawl", "firecrawl_scrape", `{"url":"https://a.example","actions":[{"type":"click"}]}`); !slices.Contains(u.Effects, floodmark.Run) {
		t.Errorf("actions on a page: %v", u.Effects)
	}
	if u := callOf(t, "desktop-commander", "read_file", `{"path":"https://a.example","isUrl":true}`); !slices.Contains(u.Effects, floodmark.Send) {
		t.Errorf("an address: %v", u.Effects)
	}
}
