package mcplogin

import (
	"strings"
	"testing"
)

// A long host is shown by its end, which says whose it is.
func TestALongHostIsShownByItsEnd(t *testing.T) {
	got := shown("https://accounts.example.com." + strings.Repeat("a.", maxShown) + "evil.example/login")
	if !strings.HasSuffix(got, ".evil.example") || !strings.HasPrefix(got, "https://...") || len(got) > maxShown+20 {
		t.Errorf("shown as %s", got)
	}
	if got := shown("https://login.example:8443/a?b"); got != "https://login.example:8443" {
		t.Errorf("shown as %s", got)
	}
}
