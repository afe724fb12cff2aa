package mcpservice

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestSeveralServersBehindOneAddress(t *testing.T) {
	t.Setenv("SECRET_OF_THE_GATEWAY", "hush")
	r := run(t, child("one"), child("two"), remote(t, "far"))
	c := r.connect(t, "anna", "", nil)
	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	want := []string{
		"far__echo", "far__environment", "far__hang", "far__pid", "one__echo", "one__environment", "one__hang", "one__pid",
		"two__echo", "two__environment", "two__hang", "two__pid",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	for _, name := range []string{"one", "two", "far"} {
		if got, err := call(t.Context(), c, name+"__echo", "x"); got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	env, err := call(t.Context(), c, "one__environment", "")
	if err != nil || !strings.Contains(env, "OWN=own-one") || strings.Contains(env, "hush") || strings.Contains(env, "own-two") {
		t.Errorf("a server's environment: %s, %v", env, err)
	}
	r.judge.mu.Lock()
	r.judge.refuse = "echo"
	calls := slices.Clone(r.judge.calls)
	r.judge.mu.Unlock()
	slices.Sort(calls)
	if !slices.Equal(calls, []string{"far/echo", "one/echo", "one/environment", "two/echo"}) || r.judge.sessions() != 1 {
		t.Errorf("the monitor was asked: %v, in %d sessions", calls, r.judge.sessions())
	}
	if got, err := call(t.Context(), c, "two__echo", "x"); err == nil || !strings.Contains(err.Error(), "not this one") {
		t.Errorf("refused: %q, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-r.judge.ended
}

// The monitor gets the session that a client claims, and the client's process.
func TestTheMonitorIsToldWhoCalls(t *testing.T) {
	r := runWith(t, func(o *Options) { o.Caller = LocalCaller(os.Getuid()) }, child("one"))
	c := r.connect(t, "anna", "s-1", nil)
	if got, err := call(t.Context(), c, "one__echo", "x"); got != "x" {
		t.Errorf("%q, %v", got, err)
	}
	r.judge.mu.Lock()
	defer r.judge.mu.Unlock()
	if r.judge.claims != "s-1" || r.judge.caller.PID != os.Getpid() || r.judge.caller.Start == 0 || len(r.judge.who) != 1 {
		t.Errorf("%v, %q, %v", r.judge.who, r.judge.claims, r.judge.caller)
	}
}
