package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

func standingLine(name, from, until string) string {
	return fmt.Sprintf("  - {name: %s, agent: a, trigger: cron, job: j, call: 'mail to=x', trust: shared, secrecy: internal, from: %s, until: %s}\n", name, from, until)
}

func TestStanding(t *testing.T) {
	list := load(t, user("standing:\n"+standingLine("n", "2026-01-01", "2026-01-31"))).Standing()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	want := policy.Standing{
		Name: "n", Agent: "a", Trigger: "cron", Job: "j", Call: "mail to=x",
		Mark: floodmark.Label{Trust: floodmark.Shared, Secrecy: floodmark.Internal}, From: day(2026, 1, 1), Until: day(2026, 2, 1),
	}
	if len(list) != 1 || list[0] != want {
		t.Fatalf("%+v", list)
	}
	for at, holds := range map[time.Time]bool{
		day(2026, 1, 1): true, day(2026, 1, 1).Add(-1): false, day(2026, 2, 1): false, day(2026, 2, 1).Add(-1): true,
	} {
		if want.Holds(at) != holds {
			t.Errorf("%s: %v", at, !holds)
		}
	}
	var none *policy.Policy
	if (policy.Standing{}).Holds(day(2026, 1, 1)) || none.Standing() != nil || load(t, user("relax: true")).Standing() != nil {
		t.Error("nothing was allowed")
	}
	list[0].Agent = "b"
	if load(t, user("standing:\n"+standingLine("n", "2026-01-01", "2026-01-31"))).Standing()[0].Agent != "a" {
		t.Error("a caller changed the policy")
	}
}

// 90 days are allowed and not one more, and only the owner's own file allows them.
func TestStandingLimits(t *testing.T) {
	if s := load(t, user("standing:\n"+standingLine("n", "2026-01-01", "2026-03-31"))).Standing()[0]; s.Until.Sub(s.From) != policy.MaxStanding {
		t.Errorf("%v", s.Until.Sub(s.From))
	}
	if s := load(t, user("standing:\n"+standingLine("n", "2026-01-01", "2026-01-01"))).Standing()[0]; s.Until.Sub(s.From) != 24*time.Hour {
		t.Errorf("one day: %v", s.Until.Sub(s.From))
	}
	_, problems := policy.Load(user("standing:\n" + standingLine("n", "2026-01-01", "2026-04-01")))
	if !strings.Contains(problems.Error(), "longer than 90 days") || !strings.Contains(problems.Error(), "write 2026-03-31 or an earlier day") {
		t.Errorf("%v", problems)
	}
	if p, _ := policy.Load(project("standing:\n" + standingLine("n", "2026-01-01", "2026-01-02"))); p != nil {
		t.Error("a project may allow jobs something")
	}
	if p, _ := policy.Load(user("agents: {a: {standing: []}}")); p != nil {
		t.Error("an agent's section may")
	}
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(standingLine(fmt.Sprint("n", i), "2026-01-01", "2026-01-02"))
		}
		return "standing:\n" + b.String()
	}
	if n := len(load(t, user(many(64))).Standing()); n != 64 {
		t.Errorf("%d", n)
	}
	if p, _ := policy.Load(user(many(65))); p != nil {
		t.Error("65 are accepted")
	}
}
