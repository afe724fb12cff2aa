// Package escape tries to escape from a box. It makes each attempt outside a box first, to know
// that the attempt works on this machine, and then inside.
package escape

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed data/escapes.txtar
var shipped []byte

// An Attempt is one way to escape.
type Attempt struct {
	Name   string
	Worked []string // how to see that it worked
	Alone  bool     // it is made only inside a box
	Twice  bool     // two run at once, like two calls of one session
	// Background says that the command may run on after its call.
	Background bool
	// Granted says that the box may reach a host, which does not exist.
	Granted bool
	Command string
}

// Attempts returns the attempts that are shipped.
func Attempts() ([]Attempt, error) { return parse(shipped) }

func parse(data []byte) ([]Attempt, error) {
	var list []Attempt
	var errs []error
	for _, f := range txtar.Parse(data).Files {
		first, command, _ := strings.Cut(string(f.Data), "\n")
		a := Attempt{Name: f.Name, Command: command}
		first, a.Background = strings.CutPrefix(first, "background ")
		first, a.Granted = strings.CutPrefix(first, "granted ")
		first, a.Twice = strings.CutPrefix(first, "twice ")
		if first, a.Alone = strings.CutPrefix(first, "alone "); strings.TrimSpace(command) == "" {
			errs = append(errs, fmt.Errorf("%s: it has no command", f.Name))
		}
		a.Worked = strings.Fields(first)
		if n, known := words(a.Worked[0]); !known || len(a.Worked) != n+1 {
			errs = append(errs, fmt.Errorf("%s: unknown way to see whether it worked: %q", f.Name, first))
		}
		list = append(list, a)
	}
	return list, errors.Join(errs...)
}

// words returns how many arguments a check has. A check is a way to see that an attempt worked,
// such as «exists FILE».
func words(kind string) (int, bool) {
	n, known := map[string]int{"sent": 0, "said": 1, "has": 2, "lacks": 2, "source": 2, "exists": 1, "link": 1, "alive": 1, "dead": 0, "setuid": 1}[kind]
	return n, known
}

// A Call is one call of a session, whose command is run in an enclosure.
type Call struct {
	Number     int
	Background bool // the command may run on after the call
	Granted    bool // its box may reach hole.invalid:443
}

// An Outcome is the result of an attempt.
type Outcome struct {
	Attempt
	// Out says that it escaped from the box. Free says that it works without a box; if it does not,
	// failing inside the box shows nothing.
	Out, Free bool
	// Not says why it was not completed; then it shows nothing either.
	Not  string
	Said string // the output inside, for people
}

// Source reports whether the attempt changes source files of the project, which a command in a box
// is allowed to do. Floodmark labels such files by the session that changed them, so commands that
// load them later are boxed too.
func (a Attempt) Source() bool { return a.Worked[0] == "source" }
