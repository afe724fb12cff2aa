package hostile

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// page is the page with the list for people.
const page = "../../../docs/reference/hostile-servers.md"

// The page describes the cases. With -update it is written.
func TestPage(t *testing.T) {
	var b strings.Builder
	n := 0
	for _, f := range families() {
		fmt.Fprintf(&b, "\n## %s%s\n\n%s\n\n| case | the server | what comes of it |\n|---|---|---|\n", strings.ToUpper(f.name[:1]), f.name[1:], f.about)
		for _, h := range f.cases {
			n++
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", h.name, h.does, h.ends)
		}
	}
	want := "# Servers that mean harm\n\n" +
		fmt.Sprintf("These %d MCP servers are played behind the real `floodmark mcp wrap` by\n`lab/peers/hostile`, from which this page is written. Each ends as the table\nsays, with a line that says so, while an honest server beside it goes on working; no process\nis left behind.\n", n) + b.String()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("the page is another one; write it with: go test . -run TestPage -update (%v)", err)
	}
	if n < 30 {
		t.Errorf("%d cases are too few", n)
	}
}
