package catalog

import (
	"slices"
	"testing"
)

func TestToolsThatTakeStatements(t *testing.T) {
	c := shipped(t)
	if u := c.Classify(offered("postgres", "query"), args("sql", "SELECT 1"), nil, here()); !sameEffects(u.Effects, effects(fetch)) {
		t.Errorf("%v", u.Effects)
	}
	if u := c.Classify(offered("postgres", "query"), args("sql", "COMMIT; DROP TABLE users; --"), nil, here()); !slices.Contains(u.Effects, change) {
		t.Errorf("%v", u.Effects)
	}
	if u := c.Classify(offered("sqlite", "read_query"), args("query", "SELECT 1; DELETE FROM t"), nil, here()); !slices.Contains(u.Effects, change) {
		t.Errorf("%v", u.Effects)
	}
}
