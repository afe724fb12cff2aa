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
	Environment      // reads variables, histories or stores of keys
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

// An Effect is one effect of a command line.
type Effect struct {
	Kind Kind
	// Path is the file or folder, absolute where the folder of the line is
	// known; empty where the effect concerns none or an unknown one.
	Path string
	// Pattern: «*» in Path is unknown, or matched by the shell.
	Pattern bool
	// Tree: the effect includes everything below Path.
	Tree bool
	// Sight is what is shown of what is read, Only the names that are read in a tree, separated by
	// «|»; empty if all are.
	Sight Sight
	Only  string
	// Placed: a folder with unknown content is put exactly here.
	Placed bool
	// URL is the address as written.
	URL    string
	Prints bool // of a key: the command itself fetches it
	// Command is the name of the program; empty for the shell.
	Command string
	// Start and End delimit it in the line, or the outermost command around it.
	Start, End int
}

// A Part is one simple command of a line that an entry describes.
type Part struct {
	// Entries are those that describe it, the best first. There are several only where the best
	// ones do not know an option; then all count.
	Entries []*Entry
	// Effects are its effects by the entries, options included.
	Effects []floodmark.Effect
	// Operands are the words that name nothing on this machine.
	Operands []string
	// Words are the words of the command, as far as known.
	Words []string
}

// A Report is what one command line does. The zero report is that of an unknown line.
type Report struct {
	// Effects are the effects found, in order. For a line that was not understood they are
	// incomplete.
	Effects []Effect
	// Parts are the simple commands that entries describe.
	Parts []Part
	// Commits are the folders in which git commits what lies there, Names those in which it gives
	// an existing commit a name of this repository: a fetch into a branch, a branch at another
	// commit, a tag. An unknown folder is empty.
	Commits, Names []string
	// Ends are the folders in which the line may leave its shell. An unknown folder is empty.
	Ends []string
	// Understood: Effects are complete.
	Understood bool
	// Why says what was not understood.
	Why []string
	// NetworkIntoInterpreter: network data is run as code.
	NetworkIntoInterpreter bool
	// InteractiveShell: it opens a shell or interpreter that takes further typed commands.
	InteractiveShell bool
	Defines          bool // it redefines a name, which lasts in a shell that lives on
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
