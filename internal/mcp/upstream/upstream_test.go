package upstream

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "A-1_b": true, "": false, "a_": false, "a__b": false, "a b": false, "ä": false, "a.b": false,
		strings.Repeat("n", MaxName): true, strings.Repeat("n", MaxName+1): false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://mcp.example/x": true, "http://127.0.0.1:1/x": true, "ftp://x": false, "x": false, "": false,
		"https://a:b@mcp.example": false, "https://": false,
	} {
		if err := CheckURL(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
