package fetching

import (
	_ "embed"
	"strings"
)

// networkWords begin what programs in other languages write to reach the network.
//
//go:embed outward.txt
var networkWords string

// Outward reports whether a line that is not understood seems to reach the network: it names an
// address of another machine, or a network function of another language. A line without these may
// still do it; it is arbitrary code anyway.
func Outward(line string) bool {
	low := strings.ToLower(line)
	for _, after := range strings.Split(low, "://")[1:] {
		if !ownMachine(after) {
			return true
		}
	}
	for _, word := range strings.Fields(networkWords) {
		if strings.Contains(low, word) {
			return !strings.Contains(low, "localhost") && !strings.Contains(low, "127.0.0.1")
		}
	}
	return false
}

// ownMachine reports whether an address begins with a name of this machine.
func ownMachine(address string) bool {
	for _, name := range [...]string{"localhost", "127.0.0.1", "[::1]", "0.0.0.0"} {
		if rest, ok := strings.CutPrefix(address, name); ok && (rest == "" || strings.ContainsRune(":/\"' )?#`\n", rune(rest[0]))) {
			return true
		}
	}
	return false
}
