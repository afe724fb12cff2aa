// Package looks tells which command lines only look, and what they tell by that. A request
// leaves the machine, so once private data was read it is a way out. But `gh issue view 12`
// tells a number to where the project came from, and `curl -s URL` its address alone.
//
// The list is short because each word that a line may have is a channel. An operand or
// variable can name another recipient, a branch or a search carries what the model wrote,
// capitals in a host reach the server, some options start programs, and a condition or a
// loop tells by whether and how often it asks. So a request comes first, once, and without
// any of these.
package looks

import (
	_ "embed"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/internal/shellscan"
	"github.com/floodmark/floodmark/internal/sqlread"
)

// A Look is what is known of the requests of a command line. The zero one is that of a line
// of which nothing is known.
type Look struct {
	// Plain: it makes one request to each of its addresses, and tells nothing else.
	Plain bool
	// Own: it asks the service that the project came from, or one on this machine, and shows
	// no other host what it was asked.
	Own bool
	// Compose: it asks docker for the services that a file of the folder tells of.
	Compose bool
	// Cluster: it asks the cluster that the owner's settings name.
	Cluster bool
	// Database is the host and port at which it asks a database, and does nothing else.
	Database string
}

//go:embed looks.txt
var list string

// Of says what a line with these addresses is. The request must be the first thing that the
// line does, written out: nothing that is read decides whether it is made, or what is in it.
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

// Obeys are the files at a home that say where it asks and what it is: their author can run programs by it.
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

// simple reports a line that is understood, and does nothing besides that could leave, run or
// decide what its commands mean.
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

// straight reports a line that is understood, and whose commands mean and run what stands there, once.
func straight(r *shellscan.Report) bool {
	return r.Understood && !r.Loops && !r.Defines && !r.NetworkIntoInterpreter && !r.InteractiveShell && len(r.Sets) == 0
}

func reaches(p shellscan.Part) bool { return slices.Contains(p.Effects, floodmark.Fetch) }

// first returns the words of the first command of a line, behind a plain «cd folder &&». It
// reports false where a shell would put in something that does not stand there.
func first(line string) (words []string, ok bool) {
	words, end, ok := command(line)
	if ok && len(words) == 2 && words[0] == "cd" && strings.HasPrefix(line[end:], "&&") {
		words, _, ok = command(line[end+2:])
	}
	return words, ok && len(words) > 0
}

// command cuts off one command, and says where it ends.
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

// A known is one line of the list.
type known struct {
	words   []string
	operand string
	options []string
}

// find returns the command that words begin with.
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

// read takes the rest of the words apart, and reports whether all of them are listed.
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

// takes reports whether the operands are those that are listed, in their order.
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

// valueOf is what the value of an option is; empty if it takes none, or is not listed.
func (c known) valueOf(option string) string {
	for _, o := range c.options {
		if name, kind, ok := strings.Cut(o, "="); ok && name == option {
			return kind
		}
	}
	return ""
}

// flags reports an option without a value, or several letters of which each is one.
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
		// A server is told the letters of its name as they are written, and these are not compared.
		return match(`https?://[a-z0-9.:-]+([/?#][!-~]*)?`) || match(`(localhost|127\.0\.0\.1)(:[0-9]{1,5})?(/[!-~]*)?`)
	default:
		return slices.Contains(strings.Split(kind, ","), word)
	}
}

// onThisMachine reports an address at which a service of this machine is asked for something
// by a short name. A query, a second host in the path, or a long name may be handed on by it.
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
