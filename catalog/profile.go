package catalog

import (
	_ "embed" // the words of licences
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
)

// A Profile describes one tool. It is immutable.
type Profile struct {
	agents  []string
	servers []string
	tools   []string
	about   string
	effects []floodmark.Effect
	returns returns
	own     bool
	remote  bool
	licence []string
	args    map[string]Arg
	names   []string // of args, as they were written
	cases   []when
	command bool // an argument is a command line
	pays    bool // money moves, now or later
	commits bool // what it sends is code that others run
	// attaches is the word in a text of the call before the name of a file to send along.
	attaches string
	// fresh are the arguments, or «argument=value», with which a command line gets a new shell that
	// no other call uses; empty if none do.
	fresh []string
	place *ownPlace // nil: there is none
	// store: it writes to or reads from a place shared by sessions.
	store string
	// repository: git works in the folders that the arguments name.
	repository bool
	// protected: the tool changes how the agent is watched (its settings, hooks or plugins), with
	// any arguments. In YAML: selfProtected.
	protected bool
	finds     floodmark.Finding // what is found in each call besides its effects
	written   floodmark.Digest  // the digest of a policy's own profile; zero for others
}

// Tools returns the names the profile is for; the last character may be «*».
func (p *Profile) Tools() []string { return slices.Clone(p.tools) }

// Agents returns the agents whose built-in tool this is.
func (p *Profile) Agents() []string { return slices.Clone(p.agents) }

// Servers returns the names of the server that offers the tool.
func (p *Profile) Servers() []string { return slices.Clone(p.servers) }

// About says in a sentence what the tool does.
func (p *Profile) About() string { return p.about }

// Effects returns what the tool does when no case applies.
func (p *Profile) Effects() []floodmark.Effect { return slices.Clone(p.effects) }

// Own reports whether the tool works on the owner's own service: reading there does not reach
// outside.
func (p *Profile) Own() bool { return p.own }

// Remote reports whether the tool talks to another machine.
func (p *Profile) Remote() bool { return p.remote }

// Pays reports whether the tool moves money, now or later.
func (p *Profile) Pays() bool { return p.pays }

// Commits reports whether the tool puts code into a repository, as a push does: each call of it is
// shown. It is false for an undescribed tool.
func (p *Profile) Commits() bool { return p != nil && p.commits }

// OnlyReads reports whether the tool is no command line and only reads, with any arguments.
func (p *Profile) OnlyReads() bool {
	return !p.command && !slices.ContainsFunc(p.effects, func(e floodmark.Effect) bool { return e < floodmark.Fetch })
}

// ArgNames returns the names of the top-level arguments, in the order of the file.
func (p *Profile) ArgNames() []string { return slices.Clone(p.names) }

// Arg returns what is known about a top-level argument.
func (p *Profile) Arg(top string) (Arg, bool) {
	a, ok := p.args[top]
	return a, ok
}

// An Arg says what one top-level argument of a tool is for. The zero Arg is undescribed; it is
// judged as critical.
type Arg struct {
	Role floodmark.Role
	// Is names what the value stands for; empty if not described.
	Is string
	// Needs is the trust the value must have for the call to keep its own.
	Needs floodmark.Trust
	// Usual is the default of a flag: passing it carries no information.
	Usual string
}

// What the value of an argument can be.
const (
	IsURL         = "url"
	IsPath        = "path"
	IsPatch       = "patch" // a patch: the paths it names count as paths
	IsCommand     = "command"
	IsDestination = "destination"
	IsID          = "id"
	IsAmount      = "amount"
	IsWhen        = "when"
	IsName        = "name"
	IsSecret      = "secret"
	IsFlag        = "flag"
	IsText        = "text"
	IsFile        = "file"  // a text that becomes all that is in the file at the path
	IsField       = "field" // what a form calls a place to write into
	IsInput       = "input" // what is written there
	IsCode        = "code"  // a code that was sent for one use
)

func kindsOfArg() []string {
	return []string{
		IsURL, IsPath, IsPatch, IsCommand, IsDestination, IsID, IsAmount, IsWhen, IsName, IsSecret, IsFlag,
		IsText, IsFile, IsField, IsInput, IsCode,
	}
}

// returns is the label of a result, or how to find it.
type returns struct {
	label floodmark.Label
	// trustByPath and secrecyByPath say that the path decides.
	trustByPath   bool
	secrecyByPath bool
	sight         commandbook.Sight // what is shown of it
}

func (r returns) byPath() bool { return r.trustByPath || r.secrecyByPath }

// join returns the safer of both. Where only one depends on the path, the worst path is assumed.
func (r returns) join(s returns) returns {
	out := returns{label: r.worst().Join(s.worst())}
	if r.trustByPath && s.trustByPath {
		out.trustByPath = true
	}
	if r.secrecyByPath && s.secrecyByPath {
		out.secrecyByPath, out.sight = true, min(r.sight, s.sight)
	}
	return out
}

// worst returns the label of the worst path, except for secrets.
func (r returns) worst() floodmark.Label {
	l := r.label
	if r.trustByPath {
		l.Trust = floodmark.External
	}
	if r.secrecyByPath {
		l.Secrecy = floodmark.Private
	}
	return l
}

// when changes a profile for some values of one argument.
type when struct {
	arg     string
	test    test
	effects []floodmark.Effect // nil: as before
	returns *partial           // nil: as before
	licence []string           // nil: as before
	// protected replaces the profile's own; nil keeps it. A tool that is protected as a whole can
	// name its harmless cases.
	protected *bool
	finds     floodmark.Finding // beside the profile's own
	// selectors is the argument, if it only selects this case.
	selectors []string
}

// partial is a returns with only some halves set.
type partial struct {
	returns
	trust, secrecy bool // which halves were written
}

// over returns base with the set halves replaced.
func (p partial) over(base returns) returns {
	if p.trust {
		base.label.Trust, base.trustByPath = p.label.Trust, p.trustByPath
	}
	if p.secrecy {
		base.label.Secrecy, base.secrecyByPath, base.sight = p.label.Secrecy, p.secrecyByPath, p.sight
	}
	return base
}

// licences are the words with which an owner asks for an effect, an effect to a line.
//
//go:embed licences.txt
var licences string

// defaultLicence returns the words for a profile without its own.
func defaultLicence(e floodmark.Effect) []string {
	for line := range strings.Lines(licences) {
		if name, words, _ := strings.Cut(strings.TrimSpace(line), ": "); name == e.String() {
			return strings.Split(words, ", ")
		}
	}
	return nil
}
