package telemetry

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/monitor"
)

var update = flag.Bool("update", false, "write docs/reference/telemetry.md anew")

const page = "../../../docs/reference/telemetry.md"

const intro = `<!-- Written by go test ./internal/service/telemetry -update. Change the code, not this page. -->

# Telemetry

What the monitor shows to those who run it. All of it is off unless
service.yaml asks for it:

~~~yaml
version: 1
metrics: 127.0.0.1:9464                # Prometheus, at /metrics
traces: https://otel.example/v1/traces # OpenTelemetry, OTLP over HTTP
events: /var/log/floodmark/events.jsonl # security events, OCSF
~~~

## What is never in it

No content, no secrets and no codes: not what was typed, read, sent or answered,
not the arguments of a call, not an address or a path. A name somebody else
chose is shown only if it is known: agents, tools and servers that the catalog
does not know are «other», and the name of a session or a call that is not
plainly a name is a digest. A test sends marked words through every hook point
and every command of the owner and searches all outputs for them.

Telemetry never holds up an answer. What does not fit its queue (%d observations,
%d MiB) is left out and counted. The journal is the truth; all this is a copy.

## Metrics

Metrics are answered on a loopback address, to everybody on this machine. With
~metrics: listen~ they are answered at the network doors instead, at /metrics, to a
token that may view and belongs to no tenant: they count all tenants. Each label has a bounded set of values. A scrape shows all that was answered
before it.

| Metric | Kind | Labels | What it says |
|---|---|---|---|
`

// reference writes the page.
func reference() string {
	var b strings.Builder
	fmt.Fprintf(&b, strings.NewReplacer("~~~", "```", "~", "`").Replace(intro), maxQueue, maxQueueBytes>>20)
	for _, m := range allMetrics() {
		labels := "–"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, m.help)
	}
	fmt.Fprintf(&b, "\nKinds of incidents: `%s`, `other`.\n", strings.Join(incidentKinds(), "`, `"))
	var classes []string
	for _, c := range errorClasses() {
		classes = append(classes, c.name)
	}
	fmt.Fprintf(&b, "\nClasses of errors: `%s`, `other`.\n", strings.Join(classes, "`, `"))
	b.WriteString(traces())
	b.WriteString(events())
	return b.String()
}

func traces() string {
	var b strings.Builder
	b.WriteString(`
## Traces

Names follow OpenTelemetry's GenAI conventions 1.41.0. A turn is a trace:

| Span | From | To |
|---|---|---|
| ` + "`invoke_agent {agent}`" + ` | the turn opens | the turn closes |
| ` + "`chat`" + ` | a model may be asked | it answered |
| ` + "`execute_tool {tool}`" + ` | a call is decided | its result arrives; at once if it may not run |

Each decision is an event ` + "`" + decisionEvent + "`" + ` on its span, each incident an event
` + "`" + incidentEvent + "`" + ` on the turn. A sub-agent's turn has a link to the turn that began it.

| Attribute | What it says |
|---|---|
`)
	keys := attributeKeys()
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k, keys[k])
	}
	fmt.Fprintf(&b, `
Beyond this machine the address must be https. At most %d spans wait to be sent,
at most %d sessions and %d calls of each are traced at once, and nothing is sent
twice: a collector that is down loses spans and holds up nobody.
`, maxSpans, maxTraced, maxOpenCalls)
	return b.String()
}

func events() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
## Security events

One JSON object a line: OCSF %s, Detection Finding (class %d) with the profiles
%s and %s. The file is readable by its owner only. At
%d MiB it is renamed to `+"`.1`"+`, and %d old ones are kept. An answer to a question has
the same `+"`finding_info.uid`"+` as the question, and closes it. `+"`metadata.uid`"+` is the place
in the journal, where the whole story is; our own words are under `+"`unmapped`"+`.

| Type | What happened | Severity |
|---|---|---|
`, ocsfVersion, classDetection, "`ai_operation`", "`security_control`", maxEventBytes>>20, keptFiles)
	types := eventTypes()
	severities := map[int]string{severityInfo: "informational", severityLow: "low", severityMedium: "medium", severityHigh: "high"}
	for _, k := range slices.Sorted(maps.Keys(types)) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k, types[k].title, severities[types[k].severity])
	}
	fmt.Fprintf(&b, `
## Log

The log goes to standard error. Text is shown for these attributes only, without
whatever is quoted or looks like an address, a token or a code: `+"`%s`"+`.
For what an incident was about, ask `+"`floodmark status`"+`.
`, strings.Join(plainKeys(), "`, `"))
	return b.String()
}

// The page says what the code does.
func TestReference(t *testing.T) {
	want := reference()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("%s is not up to date (%v): run go test ./internal/service/telemetry -update", page, err)
	}
}

// Every metric that is described is registered, and the other way round.
func TestEveryMetricIsDescribed(t *testing.T) {
	m := newMetrics(Options{
		Now: clock, Occupancy: func() monitor.Occupancy { return monitor.Occupancy{} }, Checkpoint: clock, Paused: func() int { return 0 }, Differ: func(string) int { return 0 },
	})
	m.decisions.WithLabelValues("a", "b", "c")
	m.reasons.WithLabelValues("a", "b")
	m.endorsements.WithLabelValues("a")
	m.spanCount.WithLabelValues("a")
	m.tokens.WithLabelValues("a", "b")
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	registered := map[string]bool{}
	for _, f := range families {
		registered[f.GetName()] = true
	}
	for _, d := range allMetrics() {
		if !registered[d.name] {
			t.Errorf("%s is described and not registered", d.name)
		}
		delete(registered, d.name)
	}
	for name := range registered {
		t.Errorf("%s is registered and not described", name)
	}
}
