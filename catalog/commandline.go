package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// command says what one command line is. One simple command whose first words
// are known is what its entry says; everything else is arbitrary code.
func (j *judge) command(line string) {
	if j.decided {
		j.mentioned(line)
		return
	}
	var buf [24]string
	words, ok := simple(line, buf[:0])
	if !ok {
		j.mentioned(line)
		j.arbitrary()
		return
	}
	e := j.catalog.commands.find(words)
	if e == nil || !e.accepts(words[len(e.words):], j.operand(e)) {
		j.mentioned(line)
		j.arbitrary()
		return
	}
	j.use.Effects, j.returns = e.effects, e.returns
	if e.protected {
		j.guards |= isProtected
	}
	if slices.Contains(e.effects, floodmark.Observe) && len(e.effects) == 1 {
		return
	}
	j.programs(words)
}

// operand returns what to do with each operand of e.
func (j *judge) operand(e *commandEntry) func(string) {
	switch e.operands {
	case operandsPath:
		return j.path
	case operandsURL:
		return j.url
	default:
		return j.undeclared
	}
}

// arbitrary says that the command could do anything.
func (j *judge) arbitrary() {
	j.use.Effects = j.catalog.unknown
	j.returns = returns{label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}}
}

// mentioned looks for guarded paths and our own programs in a text that some
// shell will read. Hiding them is easy; what hides is arbitrary code anyway.
func (j *judge) mentioned(line string) {
	var buf [24]string
	for _, piece := range pieces(line) {
		words := mentions(piece)
		if len(words) == 0 {
			continue
		}
		if e := j.catalog.commands.find(words); e != nil && e.protected {
			j.guards |= isProtected
		}
		j.programs(words)
		for _, w := range words {
			if !strings.ContainsAny(w, `/~.`) {
				continue
			}
			s := j.catalog.paths.look(w, j.base, j.at, buf[:0])
			j.guards |= s.guard & (isProtected | isSecret)
			if s.home >= 0 && len(s.segs) > s.home && j.catalog.paths.holdsProtected(&s) {
				j.guards |= isProtected
			}
		}
	}
}

// programs looks for our own programs: as the one that is started, or as the
// bare name some other program is given («pkill floodmark»).
func (j *judge) programs(words []string) {
	first := words[0]
	if i := strings.LastIndexAny(first, `/\`); i >= 0 {
		first = first[i+1:]
	}
	if isMonitor(first) || slices.ContainsFunc(words, isMonitor) {
		j.guards |= isProtected
	}
}
