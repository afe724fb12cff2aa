package mcpstdio

import "testing"

func TestACommandThatDoesNotExist(t *testing.T) {
	for _, args := range [][]string{nil, {"/nowhere/at/all"}} {
		if c, err := Start(Command{Args: args}); err == nil {
			t.Errorf("%v started", args)
			_ = c.Close()
		}
	}
}
