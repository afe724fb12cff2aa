package commandbook

import (
	_ "embed" // the words of the roles
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Role is the meaning of a command's word.
type Role uint8

// The roles. A word without a role makes its command undescribed.
const (
	NoRole   Role = iota // no such word is allowed
	Text                 // names nothing on this machine
	Path                 // a file that is read, written or deleted, depending on the command's effects
	Reads                // a file that is read
	Writes               // a file that is written
	Deletes              // a file that is removed
	Copies               // files that are read, the last one is written
	Moves                // files that are moved, the last one is written
	URL                  // an address on the network
	Host                 // a machine on the network; «host:path» is a file on it
	Data                 // text that is sent; «@file» sends that file
	Folder               // the folder the command works in
	Loads                // a file that is loaded as code
	Script               // a file that is run as code; the following words are its arguments
	Code                 // a program in a language that is not parsed
	Shell                // text that a shell reads
	Command              // this and all following words are another command
	Until                // words of another command, up to «;» or «+»
	Assigns              // NAME=value, then the next role applies
	Sed                  // a program for sed
	Awk                  // a program for awk
	Jq                   // a program for jq
	SQL                  // statements for a database
	Into                 // the folder that is written to
	Attached             // text that must be in the same word as its option
	Flag                 // no word, because the option has no value
	Patch                // a patch that names the files it changes
)

// rolesText holds the words of the roles in catalogs, in the order of the constants.
//
//go:embed roles.txt
var rolesText string

// Roles returns the roles' words in catalogs.
func Roles() []string { return strings.Fields(rolesText) }

// ParseRole parses the word of a role.
func ParseRole(word string) (Role, bool) {
	role := NoRole
	for w := range strings.FieldsSeq(rolesText) {
		if w == word {
			return role, true
		}
		role++
	}
	return NoRole, false
}

// Returns says how the output of a command is labelled.
type Returns struct {
	Label floodmark.Label
	// TrustByPath and SecrecyByPath say that the paths the command reads decide instead of Label.
	TrustByPath, SecrecyByPath bool
	Sight                      Sight
}

// A Sight says what a command shows of the files it reads. The zero value is everything.
type Sight uint8

// The sights. A catalog names them after «secrecy», such as {secrecy: names}.
const (
	Trees    Sight = iota // the content of the files, and of all files below a folder
	Contents              // the content of the files
	Names                 // only the names of the files
	History               // what git stores about the files, or git's own settings
)

// Sights returns the sights' words in catalogs.
func Sights() []string { return []string{"tree", "path", "names"} }

// ParseSight parses the word of a sight.
func ParseSight(word string) (Sight, bool) {
	i := slices.Index(Sights(), word)
	return Sight(max(i, 0)), i >= 0 //nolint:gosec // there are few
}

// An Entry describes a command that begins with certain words. A command with an option that is not
// listed is undescribed.
type Entry struct {
	Words   []string
	Effects []floodmark.Effect
	Returns Returns
	// Operands are the roles of the words that are not options, in order. The last role applies to
	// all further words. Without operands, no such word is allowed.
	Operands []Role
	Flags    string          // letters of short options; "*" for any
	Options  []string        // whole options, up to «=»; "*" for any
	Values   map[string]Role // options with a value, and the role of the value
	// Adds are the effects that some options add.
	Adds map[string][]floodmark.Effect
	// Loads are files that the command runs as code by default; «.» is everything in the folder.
	Loads []string
	// Hooks are folders whose files the command runs unasked if they exist. They are relative to
	// the folder it works in or to a folder above that.
	Hooks []string
	// Repository: the command obeys the git settings of its repository, which may name programs.
	Repository bool
	// Registry is the host of addresses that name no host.
	Registry string
	// Stdin says what the command does with its input, unless an operand or option says otherwise:
	// with Code or Shell it runs the input, with Patch it changes the files named in it.
	Stdin Role
	// Here: without operands the command reads the folder it works in.
	Here bool
	// Tells: it prints variables, histories or stores of keys.
	Tells     bool
	Installs  bool              // its operands name published packages
	Finds     floodmark.Finding // what is found in it besides its effects
	Own       bool              // works on the owner's own service
	Protected bool              // starts an agent without its hooks, or touches the monitor
	// Branch: it starts an agent that reports to the monitor, unless something takes it off that
	// path.
	Branch bool
	// Starts: the words may be another command, which is not followed.
	Starts bool
	// Stops says how the words name processes or services to stop.
	Stops Stops
}

// Stops says how a command names the processes it stops.
type Stops uint8

// The ways to name a process. The zero value is for commands that stop nothing.
const (
	StopsNone    Stops = iota
	StopsNames         // by whole names, in which «*» may be a wildcard
	StopsMatches       // by a regular expression
)

// StopsWords returns the words of [Stops] in catalogs.
func StopsWords() []string { return []string{"none", "names", "matches"} }

// ParseStops parses a word of [StopsWords].
func ParseStops(word string) (Stops, bool) {
	i := slices.Index(StopsWords(), word)
	return Stops(max(i, 0)), i >= 0 //nolint:gosec // there are few
}

// Commands finds entries. It is immutable and safe for concurrent use.
type Commands struct {
	byWord  map[string][]*Entry
	globals map[string]map[string]Role
}

// NewCommands returns the commands that entries describe. Entries with more words are tried first,
// then in order. Globals are the options of a command that are allowed before its subcommand.
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

// Of returns the entries of a program, those with more words first.
func (c *Commands) Of(program string) []*Entry { return c.byWord[program] }

// Globals returns the options of a program that are allowed before its subcommand, with their roles.
func (c *Commands) Globals(program string) map[string]Role { return c.globals[program] }

// Protects reports whether a command begins with the words of a protected entry.
func (c *Commands) Protects(words []string) bool {
	return slices.ContainsFunc(c.byWord[words[0]], func(e *Entry) bool {
		return e.Protected && len(words) >= len(e.Words) && slices.Equal(e.Words, words[:len(e.Words)])
	})
}
