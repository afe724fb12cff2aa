package shellscan

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// A Role says what a word of a command stands for.
type Role uint8

// The roles. Words without one make a command undescribed.
const (
	NoRole   Role = iota // no such word may be there
	Text                 // names nothing on this machine
	Path                 // a file, used as the effects of the command say
	Reads                // a file that is read
	Writes               // a file that is written
	Deletes              // a file that is removed
	Copies               // files that are read, the last one is written
	Moves                // files that are moved, the last one is written
	URL                  // an address on the network
	Host                 // a machine on the network, its files as «host:path»
	Data                 // text that is sent; «@file» sends that file
	Folder               // the folder the command works in
	Loads                // a file that is loaded as code
	Script               // a file that is run as code; the rest are its own words
	Code                 // a program in a language that is not read here
	Shell                // text that a shell reads
	Command              // the rest are the words of another command
	Until                // words of another command up to «;» or «+»
	Assigns              // NAME=value, then as the next role says
	Sed                  // a program for sed
	Awk                  // a program for awk
	Jq                   // a program for jq
	SQL                  // statements for a database
	Into                 // the folder that is written to
	Attached             // text that can only stand in the same word
	Flag                 // no word: an option without a value
	Patch                // a patch that names the files it changes
)

// Roles returns the words of the roles, as they stand in a catalog.
func Roles() []string {
	return []string{
		"none", "text", "path", "read", "write", "delete", "copy", "move", "url", "host", "data", "folder", "load", "script", "code",
		"shell", "command", "until", "assign", "sed", "awk", "jq", "sql", "into", "attached", "flag", "patch",
	}
}

// ParseRole reads the word of a role.
func ParseRole(word string) (Role, bool) {
	i := slices.Index(Roles(), word)
	return Role(max(i, 0)), i >= 0 //nolint:gosec // there are few roles
}

// Returns is the label of what a command prints, or how to find it.
type Returns struct {
	Label floodmark.Label
	// TrustByPath and SecrecyByPath say that what is read decides.
	TrustByPath, SecrecyByPath bool
	Sight                      Sight
}

// A Sight is what a command shows of the files it reads. The zero one is all.
type Sight uint8

// The sights, as they stand in a catalog: {secrecy: names}.
const (
	Trees    Sight = iota // everything in them, and in all below a folder
	Contents              // everything in them
	Names                 // what they are called
	History               // what git keeps of them, or of its own settings
)

// Sights are the words of a catalog.
func Sights() []string { return []string{"tree", "path", "names"} }

// ParseSight reads one of them.
func ParseSight(word string) (Sight, bool) {
	i := slices.Index(Sights(), word)
	return Sight(max(i, 0)), i >= 0 //nolint:gosec // there are few
}

// An Entry says what a command is that begins with certain words. Options that are not listed make
// it undescribed.
type Entry struct {
	Words   []string
	Effects []floodmark.Effect
	Returns Returns
	// Operands are the roles of the words that are no options, in order; the
	// last one holds for all that follow. Without any, no such word may be there.
	Operands []Role
	Flags    string          // letters of short options; "*" for any
	Options  []string        // whole options, up to «=»; "*" for any
	Values   map[string]Role // options with a value, and what it is
	// Adds are effects that some options bring.
	Adds map[string][]floodmark.Effect
	// Loads are files the command runs as code without being told; «.» is
	// everything in the folder.
	Loads []string
	// Hooks are folders whose files it runs by itself, if there are any: seen
	// from the folder it works in, or from one above.
	Hooks []string
	// Repository: it obeys git's settings of the repository it works in, and these
	// may name programs.
	Repository bool
	// Registry is the host of those addresses among its words that name none.
	Registry string
	// Stdin is what it does with its input: Code or Shell runs it, Patch
	// changes the files it names, if no operand and no option says what else.
	Stdin Role
	// Here: without operands it reads the folder it is in.
	Here bool
	// Tells: it prints variables, histories or stores where keys are kept.
	Tells bool
	// Installs: its operands name what strangers published.
	Installs  bool
	Own       bool // works on the owner's own service
	Protected bool // starts an agent without its hooks, or touches the monitor
	// Branch: it starts an agent that reports to the monitor, as long as nothing
	// takes it off that path.
	Branch bool
	// Starts: its words may be another command, which is not followed.
	Starts bool
	// Stops says by what its words call processes or services.
	Stops Stops
}

// Stops is how a command calls the processes it stops.
type Stops uint8

// The ways. The zero one is for commands that stop nothing.
const (
	StopsNone    Stops = iota
	StopsNames         // by whole names, where «*» may stand for letters
	StopsMatches       // by a regular expression
)

// StopsWords are the ways as they stand in a catalog.
func StopsWords() []string { return []string{"none", "names", "matches"} }

// ParseStops reads the word of a way.
func ParseStops(word string) (Stops, bool) {
	i := slices.Index(StopsWords(), word)
	return Stops(max(i, 0)), i >= 0 //nolint:gosec // there are few
}

// Commands finds entries. It does not change and may be used by many at once.
type Commands struct {
	byWord  map[string][]*Entry
	globals map[string]map[string]Role
}

// NewCommands returns the commands that entries describe: those that name more
// words first, and of equals the earlier ones. Globals are options of a
// command that may stand before its subcommand.
func NewCommands(entries []*Entry, globals map[string]map[string]Role) *Commands {
	c := &Commands{byWord: map[string][]*Entry{}, globals: globals}
	for _, e := range entries {
		c.byWord[e.Words[0]] = append(c.byWord[e.Words[0]], e)
	}
	for _, list := range c.byWord {
		slices.SortStableFunc(list, func(a, b *Entry) int { return len(b.Words) - len(a.Words) })
	}
	return c
}

// Protects reports whether a command begins as one that is protected.
func (c *Commands) Protects(words []string) bool {
	return slices.ContainsFunc(c.byWord[words[0]], func(e *Entry) bool {
		return e.Protected && len(words) >= len(e.Words) && slices.Equal(e.Words, words[:len(e.Words)])
	})
}
