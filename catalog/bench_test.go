package catalog

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func BenchmarkClassify(b *testing.B) {
	c := shipped(b)
	for _, bc := range []struct {
		name   string
		ref    floodmark.ToolRef
		leaves []hook.Leaf
	}{
		{"read", builtin("claude-code", "Read"), args("file_path", "/home/u/work/app/internal/x/main.go")},
		{"write", builtin("claude-code", "Write"), args("file_path", "/home/u/work/app/x.go", "content", "package x")},
		{"fetch", builtin("openclaw", "web_fetch"), args("url", "https://example.com/page?x=1")},
		{"mail", builtin("openclaw", "send_email"), args("to", "bob@example.com", "subject", "hi", "body", "a long text")},
		{"message", builtin("openclaw", "message"), args("action", "send", "target", "bob", "message", "hi")},
		{"simple-command", builtin("claude-code", "Bash"), args("command", "git diff --stat main.go")},
		{"shell", builtin("claude-code", "Bash"), args("command", "cd sub && go test ./... 2>&1 | tail -20")},
		{"unknown", offered("nobody", "x"), args("a", "b", "c", "d e f")},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Classify(bc.ref, bc.leaves, nil, here())
			}
		})
	}
}

func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		if _, err := Shipped(); err != nil {
			b.Fatal(err)
		}
	}
}
