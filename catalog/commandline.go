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
	if words, ok := simple(line, buf[:]); ok && j.known(words) {
		if j.acts() {
			j.argv(words) // what it writes, and what it may start with the rest
		} else if p := (part{words: words}); p.tells() {
			j.most = floodmark.Secret
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
		if j.acts() {
			j.programs(words)
		}
		return true
	}
	return false
}

// operands looks at each operand of e, and at each value of an option.
func (j *judge) operands(e *commandEntry, words []string) {
	options := true
	for i, w := range words {
		if options && w == "--" {
			options = false
			continue
		}
		if _, value, ok := strings.Cut(w, "="); ok && e.operands != operandsURL { // --file=x, and dd if=x
			j.operand(e, value)
		}
		if options && w[0] == '-' || e.operands == operandsURL && i > 0 && valueOf(e.words[0], words[i-1], w) {
			continue
		}
		j.operand(e, w)
	}
}

// valueOf reports whether a word is no address but the number or the name an
// option in front of it asks for, or a sort of record to look up.
func valueOf(command, option, word string) bool {
	if oneOf(option, "--max-time", "--retry", "--connect-timeout", "--depth", "--branch", "--filter") {
		return true
	}
	lookup := oneOf(command, "ping", "ping6", "traceroute", "tracepath", "dig", "nslookup", "host", "whois", "mtr")
	return lookup && (len(option) == 2 && option[0] == '-' && digits(word) ||
		oneOf(strings.ToUpper(word), "A", "AAAA", "ANY", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT") || word == "+short")
}

// address looks at an operand of a command that reaches the network. Git names
// the places it reaches, and folders and branches as well.
func (j *judge) address(command, word string) {
	if command == "git" && !strings.Contains(word, ":") || namesFile(word) && command == "git" {
		j.undeclared(word)
		return
	}
	if !namesFile(word) {
		j.use.URLs = append(j.use.URLs, word)
	}
	j.url(word)
}

func (j *judge) operand(e *commandEntry, word string) {
	switch e.operands {
	case operandsPath:
		j.path(word)
	case operandsURL:
		j.address(e.words[0], word)
	default:
		if strings.Contains(word, "://") {
			j.use.URLs = append(j.use.URLs, word)
		}
		j.undeclared(word)
	}
}

// arbitrary says that the command could do anything.
func (j *judge) arbitrary() {
	j.use.Effects, j.use.Own = j.catalog.unknown, false
	j.returns = returns{label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}}
}

// maxMentioned bounds the bytes of all paths in a text that is looked through;
// a text with more of them counts as doing the worst.
const maxMentioned = 2 << 20

// mentioned looks for guarded paths and our own programs in a text that some
// shell will read. Hiding them is easy; what hides is arbitrary code anyway.
func (j *judge) mentioned(line string) {
	var buf [24]string
	left := maxMentioned
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
			if left -= len(j.base) + len(w); left < 0 {
				j.installs = true
				return
			}
			s := j.catalog.paths.look(w, j.base, j.at, buf[:])
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
	if isMonitor(first[strings.LastIndexAny(first, `/\`)+1:]) || slices.ContainsFunc(words, isMonitor) {
		j.guards |= isProtected
	}
}
