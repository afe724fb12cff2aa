package shellscan

import "github.com/floodmark/floodmark"

// A Kind says what happens to a file, an address or the machine.
type Kind uint8

// The kinds of effects. The zero kind restricts: it could be anything.
const (
	Anything    Kind = iota
	Execute          // runs a file, or loads it as code; without a path some code
	Admin            // changes accounts, services, mounts, packages or other processes
	Send             // reaches others with data
	Listen           // waits for others to connect
	Delete           // removes a file, or moves it away
	Write            // creates a file or changes what is in it
	Fetch            // reads over the network
	Environment      // reads variables, histories or stores where keys are kept
	Read             // reads a file or lists a folder
	Hook             // runs a file by itself, if it exists
	Settings         // obeys the settings of the repository around a folder
)

func (k Kind) String() string {
	words := [...]string{"anything", "execute", "admin", "send", "listen", "delete", "write", "fetch", "environment", "read", "hook", "settings"}
	if int(k) < len(words) {
		return words[k]
	}
	return "invalid"
}

// An Effect is one thing a command line does.
type Effect struct {
	Kind Kind
	// Path is the file or folder, absolute where the folder of the line is
	// known; empty where the effect concerns none or an unknown one.
	Path string
	// Pattern: Path holds «*» for what is not known or matched by the shell.
	Pattern bool
	// Tree: everything below Path is concerned too.
	Tree bool
	// Sight is what is shown of what is read, Only the names that are looked into
	// in a tree, with «|» between them; none if all are.
	Sight Sight
	Only  string
	// Placed: a folder with unseen content takes this very place.
	Placed bool
	// URL is the address as it was written.
	URL    string
	Prints bool // of a key: the command itself gets it from the network
	// Command is the name of the program that does it; empty for the shell.
	Command string
	// Start and End are where in the line it stands, or the outermost command around it.
	Start, End int
}

// A Part is one simple command of a line that an entry describes.
type Part struct {
	// Entries are those that describe it, the best first. There are several
	// only where the best ones do not know an option; then all count.
	Entries []*Entry
	// Effects are what it does in the words of the house, options included.
	Effects []floodmark.Effect
	// Operands are the words that name nothing on this machine.
	Operands []string
	// Words are the words of the command as far as they are known.
	Words []string
}

// A Report is what one command line does. The zero report is that of a line
// nothing is known about.
type Report struct {
	// Effects are what was found, in the order in which it was found. Of a line
	// that was not understood it is a part of what it does.
	Effects []Effect
	// Parts are the simple commands that entries describe.
	Parts []Part
	// Commits are the folders in which git commits what lies there, Names those in which it gives
	// an existing commit a name of this repository: a fetch into a branch, a branch at another
	// commit, a tag. An unknown folder is empty.
	Commits, Names []string
	// Ends are the folders in which the line may leave its shell. An unknown folder is empty.
	Ends []string
	// Understood: the line does nothing but Effects.
	Understood bool
	// Why says in words what could not be understood.
	Why []string
	// NetworkIntoInterpreter: what the network sends is run as code.
	NetworkIntoInterpreter bool
	// InteractiveShell: it opens a shell or interpreter that takes further typed commands.
	InteractiveShell bool
	Defines          bool // it gives a name another meaning, which a shell that lives on keeps
	Loops            bool // some commands may run again after later ones
	// Sets are the variables the line sets or removes, for any purpose. «*» stands for all of them:
	// some program gets an environment of its own.
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
