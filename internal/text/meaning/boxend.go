package meaning

import (
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
)

// BoxEnd returns a line on how a command ended in its box.
func BoxEnd(f *floodmark.ContentArrived) string {
	const signalled = 128 // a shell's exit code for a signal is this plus its number
	switch {
	case f == nil:
		return "no result yet"
	case f.BoxEnd == floodmark.BoxRunsOn:
		return "it runs on in the background"
	case f.BoxEnd == floodmark.BoxRefused:
		return "no box could be made, so nothing ran"
	case f.BoxEnd != floodmark.BoxEnded && f.BoxFailed:
		return "it failed"
	case f.BoxEnd != floodmark.BoxEnded:
		return "how it ended is not known"
	}
	line := fmt.Sprintf("exit code %d", f.BoxExit)
	if f.BoxExit > signalled {
		line += fmt.Sprintf(" (signal %d)", f.BoxExit-signalled)
	}
	if len(f.Wanted) > 0 {
		line += "; no network: it wanted " + strings.Join(f.Wanted, ", ")
	}
	if len(f.NotKept) > 0 {
		line += "; not kept: " + strings.Join(f.NotKept, ", ")
	}
	return line
}
