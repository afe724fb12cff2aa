// Package looks says which command lines only look something up, and what they reveal by that.
// Every request leaves the machine, so it could send out private data that was read before. But `gh
// issue view 12` reveals only a number, and only to the service that the project came from, and
// `curl -s URL` reveals only the URL.
//
// The list of such commands is short because each part of a line could carry data out: an operand
// or variable can name another recipient, a branch or search can contain what the model wrote,
// capitals in a host reach the server, some options start programs, and a condition or loop reveals
// something by whether and how often it makes a request. So the request must come first, be made
// once, and have none of these parts.
package looks

import (
	_ "embed"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/shell/sqlread"
	"github.com/floodmark/floodmark/internal/text/address"
)

// A Look is what is known of the requests of a command line. The zero Look means that nothing is
// known.
type Look struct {
	// Plain: the line makes one request to each of its addresses and reveals nothing else.
	Plain bool
	// Own: the line asks only the service that the project came from, or a service on this machine.
	Own bool
	// Compose: the line asks docker for the services that a file in the folder describes.
	Compose bool
	// Cluster: the line asks the cluster that the owner's settings name.
	Cluster bool
	// Database is the host and port of the database that the line queries. It is empty if the line
	// queries none or does anything else.
	Database string
}

//go:embed looks.txt
var list string

// Of returns what is known of the requests of a line with these addresses. The request must be the
// first command of the line and written out in full, so that nothing that the line reads decides
// whether the request is made or what it contains.
func Of(r *shellscan.Report, line string, urls []string) Look {
	words, ok := first(line)
	if !ok || !simple(r) {
		return Look{}
	}
	at := slices.IndexFunc(r.Parts, reaches)
	if at < 0 || slices.ContainsFunc(r.Parts[at+1:], reaches) || !slices.Equal(r.Parts[at].Words, words) {
		return Look{}
	}
	c, ok := find(words)
	if !ok {
		return Look{}
	}
	operands, follows, ok := c.read(words[len(c.words):])
	switch {
	case !ok:
		return Look{}
	case c.words[0] == "docker":
		whole, _, _ := command(line)
		return Look{Compose: len(urls) == 0 && slices.Equal(whole, words)}
	case c.words[0] != "curl":
		return Look{Own: len(urls) == 0, Cluster: c.words[0] == "kubectl"}
	}
	alone := !slices.ContainsFunc(urls, func(u string) bool { return !slices.Contains(operands, u) })
	return Look{
		Plain: alone && len(urls) == len(operands),
		Own:   alone && !follows && !slices.ContainsFunc(operands, func(u string) bool { return !onThisMachine(u) }),
	}
}

// Obeys returns the files in a home that say where the look makes its request and which program
// does it. An author of these files can run programs by it.
func (l Look) Obeys(home string) []string {
	switch {
	case l.Compose:
		return []string{home + "/.docker/config.json", home + "/.docker/contexts/**", home + "/.docker/cli-plugins/**"}
	case l.Cluster:
		return []string{home + "/.kube/config", home + "/.kube/kuberc"}
	default:
		return nil
	}
}

// simple reports whether a line is understood, and only reads, writes and fetches.
func simple(r *shellscan.Report) bool {
	if !straight(r) {
		return false
	}
	for i := range r.Effects {
		switch r.Effects[i].Kind {
		case shellscan.Read, shellscan.Write, shellscan.Fetch, shellscan.Hook, shellscan.Settings:
		default:
			return false
		}
	}
	return !slices.ContainsFunc(r.Parts, func(p shellscan.Part) bool {
		return slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool {
			return e != floodmark.Observe && e != floodmark.Fetch && e != floodmark.Write
		})
	})
}

// straight reports whether a line is understood, and each of its commands runs once and as it is
// written.
func straight(r *shellscan.Report) bool {
	return r.Understood && !r.Loops && !r.Defines && !r.NetworkIntoInterpreter && !r.InteractiveShell && len(r.Sets) == 0
}

func reaches(p shellscan.Part) bool { return slices.Contains(p.Effects, floodmark.Fetch) }

// first returns the words of the first command of a line, or of the second one after a plain «cd
// folder &&». It returns false if a shell would expand something in them.
func first(line string) (words []string, ok bool) {
	words, end, ok := command(line)
	if ok && len(words) == 2 && words[0] == "cd" && strings.HasPrefix(line[end:], "&&") {
		words, _, ok = command(line[end+2:])
	}
	return words, ok && len(words) > 0
}

// command returns the words of the first command of a line, and where that command ends.
func command(line string) (words []string, end int, ok bool) {
	var word strings.Builder
	in, quote := false, byte(0)
	flush := func() {
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in = false
	}
	for end = range len(line) {
		switch c := line[end]; {
		case strings.IndexByte("$`\\*[]{}()~!<", c) >= 0 || c < ' ' && c != '\n' && c != '\t' || c > '~':
			return nil, 0, false
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '?':
			return nil, 0, false
		case c == ' ' || c == '\t' || c == '\n' && len(words) == 0 && !in:
			flush()
		case c == '>' && in && strings.Trim(word.String(), "0123456789") == "": // 2>/dev/null
			return words, end, true
		case strings.IndexByte("|;&>\n", c) >= 0:
			flush()
			return words, end, true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	flush()
	return words, len(line), quote == 0
}

// A known is one command of looks.txt.
type known struct {
	words   []string
	operand string
	options []string
}

// find returns the command of the list with which words begin.
func find(words []string) (known, bool) {
	for line := range strings.Lines(list) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		if name := strings.Fields(f[0]); len(words) >= len(name) && slices.Equal(name, words[:len(name)]) {
			return known{words: name, operand: strings.TrimSpace(f[1]), options: strings.Fields(f[2])}, true
		}
	}
	return known{}, false
}

// read returns the operands among the rest of the words, and whether an option follows redirects.
// It returns false unless the list allows all words.
func (c known) read(words []string) (operands []string, follows, ok bool) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, value, joined := strings.Cut(w, "=")
		kind := c.valueOf(name)
		switch {
		case w == "" || w == "-" || w == "--":
			return nil, false, false
		case w[0] != '-':
			operands = append(operands, w)
		case kind == "" && !joined && c.flags(w):
			follows = follows || w == "--location" || w[1] != '-' && strings.Contains(w, "L")
		case kind == "":
			return nil, false, false
		default:
			if !joined {
				if i++; i == len(words) {
					return nil, false, false
				}
				value = words[i]
			}
			if joined && !strings.HasPrefix(w, "--") || !is(kind, value) {
				return nil, false, false
			}
		}
	}
	return operands, follows, c.takes(operands)
}

// takes reports whether the list allows these operands in this order.
func (c known) takes(operands []string) bool {
	for kind := range strings.FieldsSeq(c.operand) {
		kind, none := strings.CutSuffix(kind, "?")
		kind, many := strings.CutSuffix(kind, "+")
		n := 0
		for n < len(operands) && (n == 0 || many) && is(kind, operands[n]) {
			n++
		}
		if n == 0 && !(none && len(operands) == 0) {
			return false
		}
		operands = operands[n:]
	}
	return len(operands) == 0
}

// valueOf returns the kind of an option's value. It is empty if the option takes no value or is not
// listed.
func (c known) valueOf(option string) string {
	for _, o := range c.options {
		if name, kind, ok := strings.Cut(o, "="); ok && name == option {
			return kind
		}
	}
	return ""
}

// flags reports whether a word is a listed option without a value, or several such short options.
func (c known) flags(w string) bool {
	if strings.HasPrefix(w, "--") {
		return slices.Contains(c.options, w)
	}
	return !strings.ContainsFunc(w[1:], func(r rune) bool { return !slices.Contains(c.options, "-"+string(r)) })
}

// is reports whether a word is of a kind.
func is(kind, word string) bool {
	match := func(pattern string) bool { return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(word) }
	switch kind {
	case "number":
		return match(`[1-9][0-9]{0,5}`)
	case "run":
		return match(`[1-9][0-9]{0,11}`)
	case "remote":
		return match(`[A-Za-z0-9][A-Za-z0-9_-]{0,31}`)
	case "fields":
		return match(`[A-Za-z]{2,24}(,[A-Za-z]{2,24}){0,19}`)
	case "host":
		return match(`[a-z0-9][a-z0-9.-]{0,252}`)
	case "name":
		return match(`[A-Za-z][A-Za-z0-9_]{0,62}`)
	case "service":
		return match(`[a-z0-9][a-z0-9_.-]{0,62}`)
	case "objects":
		kind, name, one := strings.Cut(word, "/")
		return slices.Contains(wordsOf(clusterKinds), kind) && (!one || is("service", name))
	case "object":
		return is("service", word) || strings.Contains(word, "/") && is("objects", word)
	case "span":
		return match(`[1-9][0-9]{0,4}[smh]?|all`)
	case "reads":
		return sqlread.ReadsOnly(word)
	case "file":
		return word != "" && word[0] != '-'
	case "url":
		// Only lower case, because a server gets its name in the case in which it is written.
		return match(`https?://[a-z0-9.:-]+([/?#][!-~]*)?`) || match(`(localhost|127\.0\.0\.1)(:[0-9]{1,5})?(/[!-~]*)?`)
	default:
		return slices.Contains(strings.Split(kind, ","), word)
	}
}

// onThisMachine reports whether an address has only a short plain path on this machine. The service
// there could pass on a query, a host in the path, or a long name.
func onThisMachine(raw string) bool {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || !address.Loopback(u.Hostname()) || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawPath != "" {
		return false
	}
	return regexp.MustCompile(`^(/[A-Za-z0-9_-]{1,24}){0,4}(\.(json|html|txt|xml|js|css))?/?$`).MatchString(u.Path)
}
