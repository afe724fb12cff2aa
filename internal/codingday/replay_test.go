package codingday

import (
	"os"
	"testing"
)

func policies(t *testing.T) []Policy {
	t.Helper()
	var list []Policy
	for _, name := range []string{"none", "A", "B"} {
		p, ok := Plain(name)
		if !ok {
			t.Fatal(name)
		}
		list = append(list, p)
	}
	m, err := Floodmark("coding")
	if err != nil {
		t.Fatal(err)
	}
	return append(list, m)
}

func TestReplay(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	traces, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	res, err := Replay(t.Context(), traces, policies(t), func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.WriteTable(os.Stdout)
	_ = res.WriteWhy(os.Stdout)
}
