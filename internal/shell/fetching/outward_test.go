package fetching_test

import (
	"testing"

	"github.com/floodmark/floodmark/internal/shell/fetching"
)

// An unparsed program that names an address may send there.
func TestOutward(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "perl -e 'print 1'": false, "perl -e 'get(\"https://news.example\")'": true,
		"ruby -e 'x(\"http://localhost:3000/a\")'": false, "x http://localhost.evil.example": true, "x http://127.0.0.1/ https://news.example": true,
		"ruby -e 'Net::HTTP.get(h, p)'": true, "ruby -e 'Net::HTTP.get(\"localhost\", p)'": false, "exec 3<>/dev/tcp/h/1": true,
		"x http://[::1]:80/": false, "x http://0.0.0.0": false, "x http://127.0.0.1": false,
	} {
		if fetching.Outward(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
