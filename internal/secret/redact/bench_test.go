package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// sizeOfOutput is the size of the tool result that is measured.
const sizeOfOutput = 8 << 10

// outputs returns typical results of tools, eight kilobytes of each.
func outputs() map[string]string {
	fill := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < sizeOfOutput; i++ {
			b.WriteString(line(i))
		}
		return b.String()[:sizeOfOutput]
	}
	return map[string]string{
		"json": fill(func(i int) string {
			return fmt.Sprintf(`{"id": %d, "title": "Meeting notes of week %d", "author": "Anna", "place": "room %d", "done": false},`+"\n", i, i, i%7)
		}),
		"source": fill(func(i int) string {
			return fmt.Sprintf("func (s *store) row%d(ctx context.Context, at int) (row, error) {\n\tif at >= len(s.rows) {\n\t\treturn row{}, errRange\n\t}\n\treturn s.rows[at], nil\n}\n\n", i)
		}),
		"log": fill(func(i int) string {
			return fmt.Sprintf("2026-03-%02dT10:%02d:07Z INFO server: request done path=/api/v1/items/%d status=200 took=%dms\n", i%28+1, i%60, i, i%90)
		}),
		// Every line asks for a closer look, and none is a secret.
		"keywords": fill(func(i int) string {
			return fmt.Sprintf("key: %q, token = nextToken%d, auth: user, secret: %d, api_key: ${API_KEY}, password: changeme, access: read\n", "invoice-"+fmt.Sprint(i), i, i)
		}),
	}
}

func BenchmarkFind(b *testing.B) {
	d := redact.New()
	for name, text := range outputs() {
		b.Run(name, func(b *testing.B) {
			if found := d.Find(text); len(found) > 0 {
				b.Fatalf("found %v", found)
			}
			b.SetBytes(sizeOfOutput)
			b.ReportAllocs()
			for b.Loop() {
				d.Find(text)
			}
		})
	}
}
