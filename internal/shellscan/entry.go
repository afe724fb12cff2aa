package shellscan

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// A Role is the meaning of a command's word.
type Role uint8

// The roles. Words without one make a command undescribed.
const (
	NoRole   Role = iota // no such word is allowed
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
	Code                 // a program in a language that is not parsed
	Shell                // text that a shell reads
	Command              // the rest are the words of another command
	Until                // words of another command, up to «;» or «+»
	Assigns              // NAME=value, then the next role applies
	Sed                  // a program for sed
	Awk                  // a program for awk
	Jq                   // a program for jq
	SQL                  // statements for a database
	Into                 // the folder that is written to
	Attached             // text that can only stand in the same word
	Flag                 // no word: an option without a value
	Patch                // a patch that names the files it changes
)

// Roles returns the roles' words in catalogs.
func Roles() []string {
	return []string{
		"none", "text", "path", "read", "write", "delete", "copy", "move", "url", "host", "data", "folder", "load", "script", "code",
		"shell", "command", "until", "assign", "sed", "awk", "jq", "sql", "into", "attached", "flag", "patch",
	}
}

// ParseRole parses the word of a role.
func ParseRole(word string) (Role, bool) {
	i := slices.Index(Roles(), word)
	return Role(max(i, 0)), i >= 0 //nolint:gosec // there are few roles
}

// Returns is the label of a command's output, or how to find it.
type Returns struct {
	Label floodmark.Label
	// TrustByPath and SecrecyByPath say that the paths it reads decide.
	TrustByPath, SecrecyByPath bool
	Sight                      Sight
}

// A Sight is what a command shows of the files it reads. The zero value is everything.
type Sight uint8

// The sights, as written in a catalog: {secrecy: names}.
const (
	Trees    Sight = iota // everything in them, and in all below a folder
	Contents              // everything in them
	Names                 // only their names
	History               // git's record of them, or of its own settings
)

// Sights are the words in catalogs.
func Sights() []string { return []string{"tree", "path", "names"} }

// ParseSight parses such a word.
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
	// Operands are the roles of the words that are no options, in order; the last one holds for all
	// further ones. Without any, no such word is allowed.
	Operands []Role
	Flags    string          // letters of short options; "*" for any
	Options  []string        // whole options, up to «=»; "*" for any
	Values   map[string]Role // options with a value, and its role
	// Adds are the further effects of some options.
	Adds map[string][]floodmark.Effect
	// Loads are files that the command runs as code by default; «.» is everything in the folder.
	Loads []string
	// Hooks are folders whose files it runs by itself if they exist: relative to the folder it
	// works in, or to one above.
	Hooks []string
	// Repository: it obeys git's settings of the repository it works in, which may name programs.
	Repository bool
	// Registry is the host of its addresses that name none.
	Registry string
	// Stdin is what it does with its input if no operand and no option says otherwise: Code or
	// Shell runs it, Patch changes the files it names.
	Stdin Role
	// Here: without operands it reads the folder it is in.
	Here bool
	// Tells: it prints variables, histories or stores of keys.
	Tells bool
	// Installs: its operands name published packages.
	Installs  bool
	Own       bool // works on the owner's own service
	Protected bool // starts an agent without its hooks, or touches the monitor
	// Branch: it starts an agent that reports to the monitor, unless something takes it off that
	// path.
	Branch bool
	// Starts: its words may be another command, which is not followed.
	Starts bool
	// Stops says how its words name processes or services.
	Stops Stops
}

// Stops is how a command names the processes it stops.
type Stops uint8

// The forms. The zero value is for commands that stop nothing.
const (
	StopsNone    Stops = iota
	StopsNames         // by whole names, where «*» may stand for letters
	StopsMatches       // by a regular expression
)

// StopsWords are the forms' words in catalogs.
func StopsWords() []string { return []string{"none", "names", "matches"} }

// ParseStops parses the word of a form.
func ParseStops(word string) (Stops, bool) {
	i := slices.Index(StopsWords(), word)
	return Stops(max(i, 0)), i >= 0 //nolint:gosec // there are few
}

// Commands finds entries. It is immutable and safe for concurrent use.
type Commands struct {
	byWord  map[string][]*Entry
	globals map[string]map[string]Role
}

// NewCommands returns the commands that entries describe: those with more words first, and of
// equals the earlier ones. Globals are options of a command that are allowed before its subcommand.
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

// Protects reports whether a command begins like a protected one.
func (c *Commands) Protects(words []string) bool {
	return slices.ContainsFunc(c.byWord[words[0]], func(e *Entry) bool {
		return e.Protected && len(words) >= len(e.Words) && slices.Equal(e.Words, words[:len(e.Words)])
	})
}
