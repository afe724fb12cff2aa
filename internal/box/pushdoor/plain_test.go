package pushdoor

import "testing"

func TestPlain(t *testing.T) {
	for line, want := range map[string]string{
		"git push": "", "git push 2>&1": "", "git push;": "", "git push 2>&1 | tail -1;": "", "git push 2>&1 | tail -3": "", "git push | cat": "", "git push origin main 2>&1 | tail -n 20": "main", "git push | head -n5": "", "git push 2>&1 | tail": "", "git push origin main 2>&1": "main", " git push\n": "", "git push origin": "", "git push origin HEAD": "", "git push -u origin main": "main", "git  push -q origin feature/a-1": "feature/a-1",
	} {
		if got, ok := Plain(line); !ok || got != want {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
	for _, line := range []string{
		"", "git", "push", "git push | tail -f", "git push | tail -3 x", "git push | tail 3", "git push | tail -n", "git push | tail -n -3", "git push | tail -3 | sh", "git push | sh", "x | git push", "x | tail -3", "git push |tail", "git push | tail -3; x", "git push | tail -3 > x", "git push | tail\t-3\nx", "git push\n | tail -3", "| tail", "git push | tail -99999", "git push | tac", "git push 2>x", "git push>&1", "git push 2>&1 2>&1", "git pull", "git push -f", "git push --force", "git push origin +main", "git push origin main:x", "git push origin :main", "git push evil", "git push origin a b",
		"git push --tags", "git push\ngit push", "git push\rx", "git push;x", "git push && x", "git push | x", "git push > x", "git push &", "git push $X", "git push `x`", "git push origin 'main'",
		`git push origin "main"`, "git push origin ma*n", "git push origin ~/x", "git push #x", "git push origin a{b,c}", "git push --no-verify", "git -C x push", "./git push", "X=1 git push", "git push --", "git push -o x",
		"git push origin ma\\in", "git push origin main!", "git push origin main\u00a0x", "git push\u2028x",
	} {
		if got, ok := Plain(line); ok {
			t.Errorf("%q: %q", line, got)
		}
	}
}
