package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/fetching"
	"github.com/floodmark/floodmark/internal/shell/gitwords"
	"github.com/floodmark/floodmark/internal/shell/linefinds"
	"github.com/floodmark/floodmark/internal/shell/looks"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// MaxShellBytes is the longest command line that is parsed. A longer one is the worst case.
const MaxShellBytes = shellscan.MaxBytes

// maxTargets is how many files that a line writes are examined. A line with more is the worst case.
const maxTargets = 512

// command classifies one command line: the sum of its parts, or arbitrary code if some part is not
// understood.
func (j *judge) command(line string) {
	if len(line) > MaxShellBytes {
		j.installs = true
		j.mentioned(line)
		j.arbitrary()
		return
	}
	j.line(shellscan.Scan(line, j.place(), j.catalog.commands), line)
}

// argv classifies a command given as a list of words.
func (j *judge) argv(words []string) {
	j.line(shellscan.ScanWords(words, j.place(), j.catalog.commands), strings.Join(words, " "))
}

func (j *judge) place() shellscan.Place { return shellscan.Place{Dir: j.base, Home: j.at.Home} }

// line adds what a scan has found.
func (j *judge) line(r shellscan.Report, text string) {
	j.use.Opaque = j.use.Opaque || !r.Understood
	j.defines = j.defines || r.Defines
	j.installs = j.installs || r.NetworkIntoInterpreter
	if !j.decided {
		j.parts(&r)
	}
	j.touched(&r)
	j.watches(&r)
	j.recorded(&r)
	j.use.Revisions = j.use.Revisions.With(gitwords.Of(&r, text))
	for _, dir := range r.Ends {
		j.use.Ends = addFolder(j.use.Ends, dir)
	}
	j.use.Looks = looks.Of(&r, text, j.use.URLs)
	j.use.Hooks = append(j.use.Hooks, j.use.Looks.Obeys(j.at.Home)...)
	j.queries(&r, text)
	j.use.Offline = fetching.Offline(&r, j.use.URLs)
	j.use.Found = append(j.use.Found, linefinds.Of(&r)...)
	j.use.Branch, j.use.Pushes = gitwords.Pushes(&r, j.at.Project)
	j.use.Pushes, j.use.PushesToo = j.use.Pushes && !j.use.Opaque, gitwords.PushesToo(&r, j.at.Project) && !j.use.Opaque
	j.use.Removes, j.use.Tidies = linefinds.Removals(&r)
	if !r.Understood {
		j.mentioned(text)
		if !j.decided {
			known := j.use.Effects
			j.arbitrary()
			for _, e := range []floodmark.Effect{floodmark.Admin, floodmark.Send} { // what was understood of it is asked about sooner
				if slices.Contains(known, e) || e == floodmark.Send && fetching.Outward(text) {
					j.add(e)
				}
			}
		}
	}
}

// queries changes the effects of a line that only queries a database at a host. The query may
// change something on the server's machine, but nothing runs here except what the client's settings
// name.
func (j *judge) queries(r *shellscan.Report, text string) {
	host, port, ok := looks.Asks(r, text)
	if !ok || j.decided {
		return
	}
	j.use.Effects = slices.DeleteFunc(slices.Clone(j.use.Effects), func(e floodmark.Effect) bool { return e == floodmark.Run })
	j.add(floodmark.Change, floodmark.Fetch)
	j.use.Looks = j.use.Looks.At(host, port, len(j.use.URLs) == 0 && len(j.guards.placed()) == 0)
	j.use.URLs, j.use.Hooks = append(j.use.URLs, "postgresql://"+host+"/"), append(j.use.Hooks, j.at.Home+"/.psqlrc", j.at.Home+"/.pgpass")
}

// parts joins the entries of all parts.
func (j *judge) parts(r *shellscan.Report) {
	j.use.Effects, j.use.Own = nil, len(r.Parts) > 0
	// A command's output is at most Local, also if it only echoes.
	j.returns = returns{label: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}}
	j.joined = true
	for i := range r.Parts {
		p := &r.Parts[i]
		j.add(p.Effects...)
		j.programs(p.Words)
		if len(p.Entries) == 0 {
			j.file(r)
		}
		for _, e := range p.Entries {
			j.entry(e)
			j.use.Programs = j.use.Programs || e.Stdin != commandbook.NoRole
		}
		for _, w := range p.Operands {
			if strings.Contains(w, "://") && !address.NamesFile(w) {
				j.use.URLs = append(j.use.URLs, w)
			}
			if _, file := address.CutFold(w, "file:"); file {
				j.url(w)
			}
			j.undeclared(w)
		}
	}
	for i := range r.Effects {
		if e, ok := house(r.Effects[i].Kind); ok {
			j.add(e)
		}
	}
	if len(j.use.Effects) > 1 {
		j.use.Effects = slices.DeleteFunc(slices.Clone(j.use.Effects), func(e floodmark.Effect) bool { return e == floodmark.Observe })
	}
	if len(j.use.Effects) == 0 {
		j.use.Effects = []floodmark.Effect{floodmark.Observe}
	}
}

// file sets the label of the output of a program that is a file. If the line is understood, its
// paths decide; otherwise the output is untrusted and private.
func (j *judge) file(r *shellscan.Report) {
	j.use.Own = false
	j.use.Programs = true
	if r.Understood {
		j.returns.trustByPath, j.returns.secrecyByPath = true, true
		return
	}
	j.returns.label = j.returns.label.Join(floodmark.Label{Secrecy: floodmark.Private})
}

// entry adds one entry's effects and label.
func (j *judge) entry(e *commandbook.Entry) {
	l := e.Returns.Label
	if e.Returns.TrustByPath {
		j.returns.trustByPath, l.Trust = true, floodmark.System
	}
	if e.Returns.SecrecyByPath {
		j.returns.secrecyByPath, l.Secrecy = true, floodmark.Public
	}
	j.returns.label = j.returns.label.Join(l)
	j.use.Own = j.use.Own && e.Own
	if e.Protected {
		j.guards |= isProtected
	}
}

// house returns the least effect of a kind, and whether it does more than observe.
func house(k shellscan.Kind) (floodmark.Effect, bool) {
	switch k {
	case shellscan.Anything, shellscan.Execute, shellscan.Listen:
		return floodmark.Run, true
	case shellscan.Admin:
		return floodmark.Admin, true
	case shellscan.Send:
		return floodmark.Send, true
	case shellscan.Delete:
		return floodmark.Change, true
	case shellscan.Write:
		return floodmark.Write, true
	case shellscan.Fetch:
		return floodmark.Fetch, true
	default:
		return floodmark.Observe, false
	}
}

// touched examines every file and address of a line.
func (j *judge) touched(r *shellscan.Report) {
	for i := range r.Effects {
		e := &r.Effects[i]
		switch e.Kind {
		case shellscan.Read:
			j.reads(e)
		case shellscan.Write, shellscan.Delete:
			j.writes(e)
		case shellscan.Execute:
			j.loads(e)
		case shellscan.Hook:
			j.use.Hooks = list(j.use.Hooks, e)
		case shellscan.Settings:
			j.use.Repositories = addFolder(j.use.Repositories, e.Path)
		case shellscan.Environment:
			j.most = floodmark.Secret
			if toldAway(r, e) {
				j.guards |= isSecret
			}
		case shellscan.Fetch, shellscan.Send:
			if e.URL != "" {
				if !slices.Contains(j.use.URLs, e.URL) {
					j.use.URLs = append(j.use.URLs, e.URL)
				}
				j.url(e.URL)
			}
		default: // without a file or an address
		}
	}
}

// toldAway reports whether a line may send a key to some host: it reaches one, and not only through
// the command that fetches the key from there.
func toldAway(r *shellscan.Report, key *shellscan.Effect) bool {
	reached := 0
	for i := range r.Parts {
		if slices.ContainsFunc(r.Parts[i].Effects, func(e floodmark.Effect) bool { return e == floodmark.Fetch || e == floodmark.Send }) {
			reached++
		}
	}
	only := key.Prints && r.Understood
	return reached > 1 || reached == 1 && !only || slices.ContainsFunc(r.Effects, func(e shellscan.Effect) bool {
		return (e.Kind == shellscan.Fetch || e.Kind == shellscan.Send) && !(only && e.Command == key.Command)
	})
}

// addFolder adds a folder to a list; empty if the folder is unknown.
func addFolder(list []string, dir string) []string {
	if !filenames.Absolute(dir) {
		dir = ""
	}
	if slices.Contains(list, dir) {
		return list
	}
	return append(list, dir)
}

// recorded adds what git writes about commits: content that influenced it is part of the next push.
func (j *judge) recorded(r *shellscan.Report) {
	for _, dir := range r.Commits {
		j.use.Writes = list(j.use.Writes, &shellscan.Effect{Path: cmp.Or(dir, j.at.Project) + CommitsOf})
	}
	for _, dir := range r.Names {
		j.use.Writes = list(j.use.Writes, &shellscan.Effect{Path: cmp.Or(dir, j.at.Project) + NamesOf})
	}
}

// CommitsOf and NamesOf are paths in a checkout that stand for its commits, and for the names of
// its commits.
const (
	CommitsOf = "/.git/HEAD"
	NamesOf   = "/.git/refs"
)

// list adds a path to one of the lists of a Use. Where the folder of the line is unknown, a
// relative path is dropped.
func list(paths []string, e *shellscan.Effect) []string {
	if !filenames.Absolute(e.Path) {
		return paths
	}
	p := e.Path
	switch {
	case e.Tree && e.Kind == shellscan.Write && e.Command == "git" && !e.Placed: // git leaves its own folder out
		p = strings.TrimSuffix(p, "/") + "/*"
	case e.Tree:
		p = strings.TrimSuffix(p, "/") + "/**"
	}
	return addFolder(paths, p)
}

func (j *judge) reads(e *shellscan.Effect) {
	if e.Path == "" {
		return
	}
	j.use.Reads = list(j.use.Reads, e)
	j.shown(e)
	s := j.located(e)
	j.guards |= s.guard &^ whereWritten
	j.away(&s)
	if e.Tree && (e.Path == "/" || within(j.at.Home, e.Path)) { // keys are in every home
		j.guards |= isSecret
	}
	if e.Pattern && !e.Tree && aimed(e.Path) {
		j.guards |= j.catalog.paths.mayBeSecret(&s)
	}
	if e.Pattern || e.Tree {
		j.guards |= j.catalog.paths.passesIn(&s)
	}
}

// aimed reports whether a pattern is for certain names: not «*», which is for all, nor «*.json»,
// which is for a whole kind.
func aimed(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	if rest, ok := strings.CutPrefix(last, "*."); ok && !strings.ContainsAny(rest, "*?[.") {
		return false
	}
	return strings.Trim(last, "*?") != ""
}

// located adds the place of a file to the use.
func (j *judge) located(e *shellscan.Effect) spot {
	s := j.catalog.paths.look(e.Path, j.base, j.at, nil)
	if s.kind > j.use.Location || j.use.Place == "" {
		j.use.Place = s.text
	}
	j.use.Location = max(j.use.Location, s.kind)
	return s
}

func (j *judge) loads(e *shellscan.Effect) {
	if e.Path == "" {
		return
	}
	j.use.Loads = list(j.use.Loads, e)
	s := j.located(e)
	j.guards |= s.guard & (isSecret | isPass)
}

// writes records the effects of a command that writes a file or puts a folder there.
func (j *judge) writes(e *shellscan.Effect) {
	if e.Path == "" {
		return
	}
	if j.targets++; j.targets > maxTargets {
		j.installs = true
		return
	}
	j.use.Writes = list(j.use.Writes, e)
	s := j.catalog.paths.look(e.Path, j.base, j.at, nil) // writing reveals nothing
	if j.use.Place == "" {
		j.use.Place = s.text
	}
	if e.Kind == shellscan.Delete { // a deleted file is not obeyed
		s.guard &^= isDotted | isLoaded | isMemory
	}
	j.guards |= s.guard & (whereWritten | isProtected | isSecret)
	j.away(&s)
	if e.Command == "ln" && (s.kind != InProject || s.guard&isSecret != 0) { // another name for the file
		j.add(floodmark.Run)
	}
	switch {
	case e.Pattern && e.Tree:
		below := j.catalog.paths.look(e.Path+"/**", j.base, j.at, nil)
		j.guards |= j.catalog.paths.mayBe(&s, e.Kind == shellscan.Delete) | j.catalog.paths.mayBe(&below, false)
	case e.Pattern:
		j.guards |= j.catalog.paths.mayBe(&s, false)
	case e.Kind == shellscan.Delete && (j.catalog.paths.holdsProtected(&s, true) || within(j.at.Home, e.Path)):
		j.guards |= isProtected
	}
	if e.Kind == shellscan.Write && e.Tree {
		j.guards |= j.catalog.paths.holdsGuarded(&s)
		if e.Placed && (e.Path == "/" || within(j.base, e.Path) || within(j.at.Project, e.Path) || within(j.at.Home, e.Path)) { // a folder put there brings its whole content
			j.guards |= isInstructs
		}
	}
}

// arbitrary records that the command could do anything.
func (j *judge) arbitrary() {
	j.use.Effects, j.use.Own = j.catalog.unknown, false
	j.returns, j.joined = returns{label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}}, false
}

// maxMentioned bounds the bytes of all paths in a text that are examined; a text with more of them
// is treated as the worst case.
const maxMentioned = 2 << 20

// mentioned looks for guarded paths and our own programs in a text for some shell. It can be
// evaded, but such a text is arbitrary code anyway.
func (j *judge) mentioned(line string) {
	var buf [24]string
	left := maxMentioned
	for _, piece := range pieces(line) {
		words := mentions(piece)
		if len(words) == 0 {
			continue
		}
		if j.catalog.commands.Protects(words) {
			j.guards |= isProtected
		}
		j.programs(words)
		for _, w := range words {
			if !strings.ContainsAny(w, `/~.`) {
				continue
			}
			if left -= len(j.base) + len(w); left < 0 {
				j.installs = true
				return
			}
			s := j.catalog.paths.look(w, j.base, j.at, buf[:])
			j.guards |= s.guard & (isProtected | isSecret | isPass)
			if j.catalog.paths.holdsProtected(&s, false) {
				j.guards |= isProtected
			}
		}
	}
}

// programs looks for our own programs: as the one that is started, or as the bare name given to
// another program («pkill floodmark»).
func (j *judge) programs(words []string) {
	if len(words) == 0 {
		return
	}
	first := words[0]
	if isMonitor(first[strings.LastIndexAny(first, `/\`)+1:]) || slices.ContainsFunc(words, isMonitor) {
		j.guards |= isProtected
	}
}
