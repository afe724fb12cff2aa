package shellscan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// everyday is a line of about 200 bytes as coding agents write them.
const everyday = `cd /p/internal/app && git status --short && go test ./... -run 'TestOne|TestTwo' 2>&1 | grep -v "no test files" | tail -20; for f in *.go; do sed -n 1,40p "$f" | head -5; done; ls -la | sort -k 5 -n`

func BenchmarkScan(b *testing.B) {
	c := commands(b)
	for name, line := range map[string]string{
		"short": "git diff --stat main.go", "pipe": "cd sub && go test ./... 2>&1 | tail -20", "everyday": everyday,
		"here-document": "cat > x.go <<'EOF'\n" + strings.Repeat("func f() {}\n", 400) + "EOF\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				begin := b.Elapsed()
				shellscan.Scan(line, here(), c)
				took = append(took, b.Elapsed()-begin)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}
