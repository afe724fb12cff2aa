package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/internal/shell/gitwords"
	"github.com/floodmark/floodmark/internal/shell/looks"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// A Use is what one call of a tool is, as far as the catalog knows. Its slices must not be changed.
type Use struct {
	// Profile is nil for an undescribed tool.
	Profile *Profile
	// Effects are never empty. An unknown tool runs.
	Effects []floodmark.Effect
	// Returns is the label of the result. For an unknown tool it is the zero label. Where the path
	// decides, trust is Local, or External if the path is foreign; the policy decides about other
	// places.
	Returns floodmark.Label
	// Place is the host or path that is read or written.
	Place string
	// PathKind is the most guarded kind among the paths of the call.
	PathKind PathKind
	// Location says where the paths lie, regardless of their content: InProject, Elsewhere or
	// Foreign, the least trusted of them; else NoPath.
	Location PathKind
	// SelfProtected: it touches the monitor, its store, or an agent's hooks.
	SelfProtected bool
	// Instructs: Admin is among the effects only because the file that is
	// written instructs an agent or runs by itself.
	Instructs bool
	// Placed are the further effects in a session below Local, because of where it writes: outside
	// of the project, or where programs and agents load from.
	Placed []floodmark.Effect
	// Network: it leaves the machine, or could.
	Network bool
	// Own: it works on the owner's own service, and nothing in the call names another address.
	Own bool
	// ByPath: the trust of the result was taken from the path.
	ByPath bool
	// Programs: a command line starts a program or script that is a file, so that its output
	// depends on that file.
	Programs bool
	// URLs are the addresses that a known command reaches over the network, as written. A URL that
	// is an argument of its own is not among them.
	URLs []string
	// Reads, Writes and Loads are the paths a command line is known to read, to
	// write or remove, and to run or load as code: clean, absolute where the
	// folder is known, «*» where the shell would match names. A path that ends
	// in «/**» stands for everything below it.
	Reads, Writes, Loads []string
	// Contents are paths in the form of Reads whose content, with its secrets, a call may show.
	Contents []string
	// Hooks are paths, in the form of Reads, that a command line runs as code without naming them
	// if they exist. Listing them does not make the call run code; what is known of the paths does.
	Hooks []string
	// Repositories are the folders in which git works: it obeys the settings of the repository
	// around each, which may name programs. An unknown folder is empty.
	Repositories []string
	// Revisions are the words in the command that may name a git revision in Repositories.
	Revisions gitwords.Revisions
	// Ends are the folders in which a command line may leave its shell; empty for an unknown one.
	Ends []string
	// Opaque: a command line could not be understood, so that what it reads,
	// writes and loads is only partly known.
	Opaque bool
	// Offline: a command line may work without a network. Each command in it that fetches would
	// also use a local copy, and it names neither an address nor a package.
	Offline bool
	// Tidies: it changes nothing except by deleting single files. Removes are the deleted files
	// that the same command line has not created.
	Tidies  bool
	Removes []string
	// Found is what was found in the call besides its effects.
	Found finding.List
	// Pushes: all it sends is one branch, to the project's origin. Branch is its name, if the line
	// names it and has not checked it out itself.
	Pushes bool
	Branch string
	// PushesToo: as Pushes, but programs other than git may also delete or change something.
	PushesToo bool
	// Looks says what a command line that only reads reveals by reading.
	Looks looks.Look
	// Otherwise are the effects it would have outside a place of the owner's own.
	Otherwise []floodmark.Effect
	// Licence are the words by which an owner asks for this call.
	Licence []string
	// Selectors are the top-level arguments that only select what the tool does, with a word the
	// profile lists: Effects and Licence already account for them.
	Selectors []string
}

// Classify returns what one call is. Hints are the server's own claims and can only tighten.
func (c *Catalog) Classify(t floodmark.ToolRef, leaves []hook.Leaf, hints *hook.Hints, at Places) Use {
	j := judge{catalog: c, at: at, base: at.Project, most: floodmark.Public}
	p, known := c.Lookup(t)
	if !known {
		j.use = Use{Effects: c.unknown, Network: true}
		j.sweep(leaves)
		if j.guards&isSecret != 0 {
			j.use.PathKind = Secret
		}
		j.protect()
		return j.use
	}
	j.use = Use{Profile: p, Effects: p.effects, Own: p.own, Licence: p.licence}
	j.returns = p.returns
	j.protected = p.protected
	j.find(p.finds, leaves)
	j.cases(leaves)
	if p.place.holds(leaves) {
		j.use.Otherwise, j.use.Effects = j.use.Effects, []floodmark.Effect{floodmark.Write}
	}
	j.arguments(leaves)
	j.settle()
	j.tighten(hints)
	j.use.Network = j.use.Network || p.remote || slices.ContainsFunc(j.use.Effects, canLeave)
	if j.use.Licence == nil {
		j.use.Licence = c.licences[slices.Min(j.use.Effects)]
	}
	return j.use
}

// canLeave reports whether an effect can leave the machine.
func canLeave(e floodmark.Effect) bool {
	return e == floodmark.Run || e == floodmark.Send || e == floodmark.Fetch
}

// judge collects what is known about one call.
type judge struct {
	catalog *Catalog
	at      Places
	base    string // what relative paths are taken from
	use     Use
	returns returns
	guards  guard
	decided bool // a case has decided what the command is
	bent    bool // another argument decides how the command is run
	defines bool // it gives a name another meaning
	// protected: the profile says that the call touches the monitor.
	protected bool
	// installs: the command line runs what it gets from the network.
	installs bool
	// most is how open the result can be at most: Private if it comes from this machine's own
	// services, Secret if it may hold keys.
	most floodmark.Secrecy
	// readsFile: a URL names a file, so the path affects the label of the result.
	readsFile bool
	hosts     int // how many URLs were looked at
	targets   int // how many files a command line was found to write
	// joined: the result has both the label in returns and that of the path.
	joined bool
}

// cases applies the profile's cases. The first case that fits wholly replaces what the profile
// says, and ends the search. A case that fits partly can only tighten it.
func (j *judge) cases(leaves []hook.Leaf) {
	p := j.use.Profile
	for i := range p.cases {
		w := &p.cases[i]
		switch w.fits(leaves, j.at) {
		case partly:
			j.find(w.finds, leaves)
			if w.effects != nil {
				j.add(w.effects...)
			}
			if w.returns != nil {
				j.returns = j.returns.join(w.returns.over(j.returns))
			}
			j.protected = j.protected || w.protected != nil && *w.protected
		case wholly:
			j.find(w.finds, leaves)
			if w.effects != nil {
				j.use.Effects = w.effects
			}
			if w.returns != nil {
				j.returns = w.returns.over(j.returns)
			}
			if w.licence != nil {
				j.use.Licence = w.licence
			}
			if w.protected != nil {
				j.protected = *w.protected
			}
			if w.selectors != nil && w.plain(leaves) {
				j.use.Selectors = w.selectors
			}
			j.decided = w.test.commands != nil
			return
		}
	}
}

// find adds what a profile or a case finds about each argument that is neither free text nor a
// flag; if there is no such argument, about something unknown.
func (j *judge) find(f floodmark.Finding, leaves []hook.Leaf) {
	var things []string
	for i := range leaves {
		if a := j.use.Profile.args[leaves[i].Top]; a.Role != floodmark.Content && a.Is != IsFlag && leaves[i].Kind != hook.Null {
			things = append(things, leaves[i].Value)
		}
	}
	j.use.Found = j.use.Found.About(f, things)
}

// arguments examines every value by its declared meaning.
func (j *judge) arguments(leaves []hook.Leaf) {
	p := j.use.Profile
	if p.command {
		j.workdir(leaves)
	}
	var buf, names [8]string
	commands, files := buf[:0], names[:0]
	for i := range leaves {
		l := &leaves[i]
		a, declared := p.args[l.Top]
		j.bent = j.bent || p.command && bends(l, a)
		if l.Kind != hook.String {
			continue
		}
		j.attached(l.Value)
		switch {
		case !declared:
			j.undeclared(l.Value)
		case a.Is == IsPath:
			j.path(l.Value)
			files = append(files, l.Value)
		case a.Is == IsPatch:
			j.patch(l.Value)
		case a.Is == IsURL:
			j.url(l.Value)
		case a.Is == IsCommand:
			commands = append(commands, l.Value)
		case a.Is == IsName && p.repository:
			j.use.Revisions.Words = append(j.use.Revisions.Words, l.Value)
		}
	}
	j.together(files)
	if p.repository {
		j.repositories(files)
	}
	switch {
	case len(commands) == 0:
	case len(commands) == 1 && !j.bent:
		if j.command(commands[0]); j.defines && !j.decided && !j.use.Fresh(leaves) { // the next call may mean something else
			j.arbitrary()
		}
	default: // words of a list, or another shell, host or environment: we do not guess
		j.several(commands)
	}
}

// repositories records the folders, named by the call, in which a tool has git work.
func (j *judge) repositories(folders []string) {
	for _, dir := range folders {
		j.use.Repositories = addFolder(j.use.Repositories, clean(dir, j.base, j.at.Home))
	}
	if len(folders) == 0 {
		j.use.Repositories = []string{""}
	}
}

// several examines command lines that cannot be understood alone, or the words of one.
func (j *judge) several(commands []string) {
	for _, c := range commands {
		j.mentioned(c)
		j.command(c)
	}
	j.argv(commands)
	j.arbitrary()
}

// bends reports whether an argument can change what a command line means: another shell, another
// host, an environment. A folder cannot.
func bends(l *hook.Leaf, a Arg) bool {
	if a.Role == floodmark.Content || a.Is == IsCommand || a.Is == IsPath {
		return false
	}
	return l.Kind != hook.Null && l.Value != "" && l.Value != "false"
}

// workdir finds the folder a command would run in.
func (j *judge) workdir(leaves []hook.Leaf) {
	for i := range leaves {
		if l := &leaves[i]; l.Kind == hook.String && l.Value != "" && j.use.Profile.args[l.Top].Is == IsPath {
			j.base = clean(l.Value, j.at.Project, j.at.Home)
			return
		}
	}
}

func (j *judge) path(value string) {
	if value == "" {
		return
	}
	for _, value := range append([]string{value}, filenames.Respelled(value)...) {
		var buf [24]string
		s := j.catalog.paths.look(value, j.base, j.at, buf[:])
		if s.kind > j.use.Location || j.use.Place == "" {
			j.use.Place = s.text
		}
		j.use.Location = max(j.use.Location, s.kind)
		if j.use.Profile.command { // a folder to run in: writes there are looked at by themselves
			s.guard &^= whereWritten &^ isInstructs
		}
		j.guards |= s.guard
		j.contents(s.text)
		j.away(&s)
		if slices.Contains(j.use.Effects, floodmark.Change) && (j.catalog.paths.holdsProtected(&s, true) || within(j.at.Home, s.text)) {
			j.guards |= isProtected
		}
	}
}

// away treats a path that may be on another machine as an address, because opening a path below
// /net looks for a machine of that name. Paths of a remote tool are left out.
func (j *judge) away(s *spot) {
	if s.guard&isAway != 0 && !slices.Contains(j.use.URLs, s.text) && !j.use.Profile.remote {
		j.use.URLs = append(j.use.URLs, s.text)
		j.add(floodmark.Fetch)
	}
}

// maxJoined bounds the paths of a call that are combined.
const maxJoined = 16

// together examines every path of a call as a name in the folder that another one may be:
// {"folder": "~", "filename": ".bashrc"}.
func (j *judge) together(files []string) {
	files = files[:min(len(files), maxJoined)]
	var buf [24]string
	for _, folder := range files {
		for _, name := range files {
			if folder == name {
				continue
			}
			s := j.catalog.paths.look(name, clean(folder, j.base, j.at.Home), j.at, buf[:])
			j.guards |= s.guard &^ isForeign
		}
	}
}

// url examines an address. Responses of this machine and its network are not public. A file://
// address has the label of its path.
func (j *judge) url(value string) {
	if address.NamesFile(value) {
		j.readsFile = true
		if host, _, _ := address.FileURL(strings.TrimSpace(value)); host != "" {
			j.most = floodmark.Secret
		}
		j.path(value)
		return
	}
	host, _ := address.HostOf(value)
	j.most = min(j.most, address.Openness(host))
	// Standing trust is for a single host on which all URL parsers agree.
	switch j.hosts++; {
	case j.use.Location != NoPath: // the path stands for the call
	case j.hosts == 1 && address.Plain(value):
		j.use.Place = host
	case j.use.Place != host || !address.Plain(value):
		j.use.Place = ""
	}
	if host != "" {
		j.use.Own = false // the owner of that host is unknown
	}
}

// undeclared looks for guarded paths in an argument not described as a path.
func (j *judge) undeclared(value string) {
	if len(value) > MaxPathBytes || !strings.ContainsAny(value, `/\`) || prose(value) {
		return
	}
	if i := strings.IndexAny(value, ":="); i >= 0 && strings.HasPrefix(value[i+1:], "/") && !strings.HasPrefix(value[i+1:], "//") { // unix:/run/x.sock
		j.guards |= j.catalog.paths.look(value[i+1:], j.base, j.at, nil).guard & (isProtected | isSecret | isPass)
	}
	j.guards |= j.catalog.paths.look(value, j.base, j.at, make([]string, 0, 24)).guard & (isProtected | isSecret | isPass)
}

// prose reports whether a text has several words and does not begin like a path.
func prose(value string) bool {
	return strings.ContainsAny(value, " \n") && strings.IndexByte("/~.\\", value[0]) < 0
}

// sweep examines all values of a call of an unknown tool.
func (j *judge) sweep(leaves []hook.Leaf) {
	for i := range leaves {
		if leaves[i].Kind == hook.String {
			j.mentioned(leaves[i].Value)
		}
		for _, tail := range leaves[i].Tails() {
			j.guards |= j.catalog.paths.look("~/"+tail, "", j.at, nil).guard & isSecret
		}
	}
}

// settle turns the findings into effects, label and kind.
func (j *judge) settle() {
	u := &j.use
	if u.Location == NoPath && j.returns.byPath() {
		u.Location, u.Place = Elsewhere, j.base
		if within(j.base, j.at.Project) {
			u.Location = InProject
		}
		j.contents(j.base)
	}
	u.Returns, u.ByPath = j.returns.label, j.returns.trustByPath
	there := j.byPath()
	if j.joined {
		there = there.Join(u.Returns)
	}
	if j.returns.trustByPath {
		u.Returns.Trust = there.Trust
	}
	if j.returns.secrecyByPath {
		u.Returns.Secrecy = there.Secrecy
	}
	if j.readsFile {
		u.Returns = u.Returns.Join(there)
	}
	u.Returns.Secrecy = min(u.Returns.Secrecy, j.most)
	u.PathKind = u.Location
	if j.guards&isSecret != 0 {
		u.PathKind, u.Returns.Secrecy = Secret, floodmark.Secret
	}
	if j.protected {
		j.guards |= isProtected
	}
	if j.installs {
		j.add(floodmark.Admin)
	}
	j.retighten()
}

// byPath returns the label of the content at the call's path.
func (j *judge) byPath() floodmark.Label {
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}
	if j.use.Location == Foreign {
		l.Trust = floodmark.External
	}
	if j.use.Location == InProject || j.use.Location == Foreign && within(j.use.Place, j.at.Project) {
		l.Secrecy = floodmark.Internal
	}
	return l
}

// alters reports whether the call writes or changes something.
func (j *judge) alters() bool {
	return slices.ContainsFunc(j.use.Effects, func(e floodmark.Effect) bool {
		return e != floodmark.Observe && e != floodmark.Fetch && e != floodmark.Send
	})
}

// acts reports whether the call does more than read.
func (j *judge) acts() bool {
	return slices.ContainsFunc(j.use.Effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// protect marks a call that touches something protected. A call that only reads is not marked,
// unless it reads a pass: with a pass, a program can act as the owner elsewhere.
func (j *judge) protect() {
	if j.guards&isPass == 0 && (j.guards&isProtected == 0 || !j.acts()) {
		return
	}
	j.use.PathKind, j.use.SelfProtected, j.use.Instructs = SelfProtected, true, false
	j.add(floodmark.Admin)
}

// add adds effects without touching shared slices.
func (j *judge) add(effects ...floodmark.Effect) {
	for _, e := range effects {
		if !slices.Contains(j.use.Effects, e) {
			j.use.Effects = append(slices.Clip(j.use.Effects), e)
		}
	}
}
