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
		j.shell(line)
		return
	}
	var buf [24]string
	if words, ok := simple(line, buf[:0]); ok && j.known(words) {
		if slices.Contains(j.use.Effects, floodmark.Run) {
			j.argv(words) // it may start another command with the rest
		}
		return
	}
	j.mentioned(line)
	j.shell(line)
	j.arbitrary()
}

// known judges a command by the entry that names most of its words. If the
// options are none that entry knows, the next one may know them; then both
// count, the worse of each.
func (j *judge) known(words []string) bool {
	seen := false
	for _, e := range j.catalog.commands.byWord[words[0]] {
		switch {
		case !e.fit(words):
			continue
		case seen:
			j.add(e.effects...)
			j.returns = j.returns.join(e.returns)
			j.use.Own = j.use.Own && e.own
		default:
			j.use.Effects, j.returns, j.use.Own, seen = e.effects, e.returns, e.own, true
		}
		rest := words[len(e.words):]
		if !e.accepts(rest) {
			continue
		}
		j.operands(e, rest)
		if e.protected {
			j.guards |= isProtected
		}
		if len(j.use.Effects) > 1 || j.use.Effects[0] != floodmark.Observe {
			j.programs(words)
		}
		return true
	}
	return false
}

// operands looks at each operand of e, and at each value of an option.
func (j *judge) operands(e *commandEntry, words []string) {
	options := true
	for _, w := range words {
		if options && w == "--" {
			options = false
			continue
		}
		if _, value, ok := strings.Cut(w, "="); ok { // --file=x, and dd if=x
			j.operand(e, value)
		}
		if !options || w[0] != '-' {
			j.operand(e, w)
		}
	}
}

func (j *judge) operand(e *commandEntry, word string) {
	switch e.operands {
	case operandsPath:
		j.path(word)
	case operandsURL:
		j.url(word)
	default:
		j.undeclared(word)
	}
}

// arbitrary says that the command could do anything.
func (j *judge) arbitrary() {
	j.use.Effects, j.use.Own = j.catalog.unknown, false
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
		if j.catalog.commands.protects(words) {
			j.guards |= isProtected
		}
		j.programs(words)
		for _, w := range words {
			if !strings.ContainsAny(w, `/~.`) {
				continue
			}
			s := j.catalog.paths.look(w, j.base, j.at, buf[:0])
			j.guards |= s.guard & (isProtected | isSecret)
			if j.catalog.paths.holdsProtected(&s, false) {
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
