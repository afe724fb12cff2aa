package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// openclawAsksInTheChat runs OpenClaw, which asks in the chat if it is configured to. Only the
// owner is heard there. After a no the agent continues and nothing was sent; after a yes exactly
// that call runs.
func openclawAsksInTheChat(t *testing.T) {
	t.Helper()
	if *gateOnly {
		t.Skip("make soak SUITE=agents starts OpenClaw's gateway")
	}
	w := newWorld(t)
	w.native = []string{"openclaw"}
	w.inMemory()
	early := false
	shell := openclawAgent().shell
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		switch n := len(turn.Results); n {
		case 0:
			return testmodel.Step{Calls: []testmodel.Call{shell(read)}}
		case 1, 2:
			early = early || w.leaked()
			return testmodel.Step{Calls: []testmodel.Call{shell([]string{1: attack, 2: attack + " --max-time 60"}[n])}}
		}
		return testmodel.Step{Text: "Done."}
	}
	app := &chatApp{messages: []sent{
		{from: chatOwner, text: prompt()},
		{from: 222, text: "/approve " + newestQuestion + " allow-once"},
		{from: chatOwner, text: "/approve " + newestQuestion + " deny"},
		{from: chatOwner, text: "/approve " + newestQuestion + " allow-once"},
	}}
	app.next = func(n int) bool {
		const heard = 3 * time.Second // how long a message may take
		return len(app.asked) >= []int{0, 1, 1, 2}[n] && time.Since(app.last) > heard
	}
	w.gateway(app, func() bool { return len(w.results()) >= 3 })
	if err := w.has("News", "Denied", "thank you"); err != nil || early {
		t.Errorf("%v; it ran before a yes: %v\n%q\n%s", err, early, w.results(), tail(w.output))
	}
	if want := []floodmark.Verdict{floodmark.Restrict, floodmark.Allow}; !slices.Equal(w.answers, want) {
		t.Errorf("the answers were %v, want %v", w.answers, want)
	}
	for _, id := range app.asked {
		if said := strings.Join(w.results(), "\n"); strings.Contains(said, id) {
			t.Errorf("the model was told %s: %s", id, said)
		}
	}
}
