package rendered

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

const fleetFolder = "../../../packaging/fleet/"

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// known returns the metrics in the reference, with the names that Prometheus derives from them.
func known(t *testing.T) []string {
	t.Helper()
	names := []string{"up"}
	for _, m := range regexp.MustCompile("(?m)^\\| `(floodmark_[a-z_]+)` \\| ([a-z]+) ").FindAllStringSubmatch(read(t, "../../../docs/reference/telemetry.md"), -1) {
		names = append(names, m[1])
		if m[2] == "histogram" {
			names = append(names, m[1]+"_bucket", m[1]+"_sum", m[1]+"_count")
		}
	}
	if len(names) < 20 {
		t.Fatalf("the reference has %d metrics", len(names))
	}
	return names
}

// asks fails the test if Prometheus cannot read an expression, or if the expression uses a metric
// that does not exist.
func asks(t *testing.T, names []string, what, expression string) {
	t.Helper()
	// Grafana's own variables are replaced by values of the same kind.
	expression = strings.NewReplacer("$__rate_interval", "5m", "$job", "floodmark").Replace(expression)
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		t.Errorf("%s: %v\n%s", what, err, expression)
		return
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok && !slices.Contains(names, v.Name) {
			t.Errorf("%s asks for %s, which there is not", what, v.Name)
		}
		return nil
	})
}

func TestAlerts(t *testing.T) {
	text := read(t, fleetFolder+"prometheus/alerts.yaml")
	groups, problems := rulefmt.Parse([]byte(text), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range problems {
		t.Error(err)
	}
	runbook, names, n := read(t, "../../../docs/guide/runbook.md"), known(t), 0
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			n++
			asks(t, names, r.Alert, r.Expr)
			_, anchor, _ := strings.Cut(r.Annotations["runbook_url"], "runbook.md#")
			if anchor == "" || !slices.Contains(anchors(runbook), anchor) {
				t.Errorf("%s: the runbook has no section %q", r.Alert, anchor)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d alerts", n)
	}
}

// anchors returns the headings of a page as links name them.
func anchors(page string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		a := strings.ToLower(m[1])
		a = regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(a, "")
		list = append(list, strings.ReplaceAll(a, " ", "-"))
	}
	return list
}

func TestDashboard(t *testing.T) {
	var d struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, fleetFolder+"grafana/floodmark.json")), &d); err != nil {
		t.Fatal(err)
	}
	names, shown := known(t), map[int]bool{}
	for _, p := range d.Panels {
		if shown[p.ID] {
			t.Errorf("two panels have the number %d", p.ID)
		}
		shown[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s is too wide", p.Title)
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%s shows nothing", p.Title)
		}
		for _, q := range p.Targets {
			asks(t, names, p.Title, q.Expr)
		}
	}
	if len(d.Panels) < 20 {
		t.Errorf("%d panels", len(d.Panels))
	}
}
