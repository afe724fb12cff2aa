package shellscan

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// A Kind says what happens to a file, an address or the machine.
type Kind uint8

// The kinds of effects. The zero kind means that anything could happen.
const (
	Anything    Kind = iota
	Execute          // runs a file or loads it as code; without a path, unknown code
	Admin            // changes accounts, services, mounts, packages or other processes
	Send             // reaches others with data
	Listen           // waits for others to connect
	Delete           // removes a file, or moves it away
	Write            // creates a file or changes what is in it
	Fetch            // reads over the network
	Environment      // reads variables, histories or stores of keys
	Read             // reads a file or lists a folder
	Hook             // runs a file without being told to, if it exists
	Settings         // obeys the settings of the repository around a folder
)

func (k Kind) String() string {
	words := [...]string{"anything", "execute", "admin", "send", "listen", "delete", "write", "fetch", "environment", "read", "hook", "settings"}
	if int(k) < len(words) {
		return words[k]
	}
	return "invalid"
}

// An Effect is one effect of a command line.
type Effect struct {
	Kind Kind
	// Path is the file or folder. It is absolute if the folder of the line is known, and empty if
	// the effect has no file or an unknown one.
	Path string
	// Pattern: «*» in Path is an unknown part, or a pattern that the shell matches.
	Pattern bool
	// Tree: the effect includes everything below Path.
	Tree bool
	// Sight says what is shown of a file that is read.
	Sight commandbook.Sight
	// Only are the names that are read in a tree, separated by «|»; empty if all are read.
	Only string
	// Placed: a folder with unknown content is put exactly at Path.
	Placed bool
	// URL is the address as written.
	URL    string
	Prints bool // for Environment: the command itself fetches the keys that it prints
	// Command is the name of the program; empty for the shell.
	Command string
	// Start and End are the position of the outermost command in the line that has the effect.
	Start, End int
}

// A Part is one simple command of a line that an entry describes.
type Part struct {
	// Entries are the entries that describe the command, the best first. There are several only if
	// the best entry does not know an option; then all of them apply.
	Entries []*commandbook.Entry
	// Effects are the effects that the entries give for the command and its options.
	Effects []floodmark.Effect
	// Operands are the words that name nothing on this machine.
	Operands []string
	// Words are the words of the command, as far as known.
	Words []string
}

// A Report says what one command line does. The zero Report is for a line that is not understood.
type Report struct {
	// Effects are the effects found, in order. For a line that was not understood they are
	// incomplete.
	Effects []Effect
	// Parts are the simple commands that entries describe.
	Parts []Part
	// Commits are the folders in which git makes a commit. Names are the folders in which git gives
	// an existing commit a name: by a tag, a branch at another commit or a fetch into a branch. An
	// unknown folder is empty.
	Commits, Names []string
	// Ends are the folders in which the line may leave its shell. An unknown folder is empty.
	Ends []string
	// Understood: Effects are complete.
	Understood bool
	// Why says what was not understood.
	Why []string
	// NetworkIntoInterpreter: network data is run as code.
	NetworkIntoInterpreter bool
	// InteractiveShell: the line opens a shell or interpreter that takes further typed commands.
	InteractiveShell bool
	Defines          bool // the line defines a function or alias, which affects later lines in the same shell
	Loops            bool // some commands may run again after later ones
	// Sets are the variables that the line sets or removes, for any purpose. «*» means all
	// variables, because some program gets a new environment.
	Sets []string
}

// Has reports whether the line has an effect of kind k.
func (r *Report) Has(k Kind) bool {
	for i := range r.Effects {
		if r.Effects[i].Kind == k {
			return true
		}
	}
	return false
}

// A Place says where a line runs.
type Place struct {
	Dir  string // the folder; empty if unknown
	Home string // what «~» means; empty if unknown
	// Vars are variables whose values are known.
	Vars map[string]string
}
