package looks

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// maxHosts bounds the databases for which somebody keeps a login.
const maxHosts = 1000

// Asks returns the host of a line that puts statements to a database there which only read,
// and does nothing else but show the answer. psql runs nothing by that but what its settings say, and
// takes a statement of an option as one for the server. The host is told the statement.
func Asks(r *shellscan.Report, line string) (host string, ok bool) {
	const client = "psql"
	if strings.ContainsAny(line, "$`\\<\n") || len(r.Parts) == 0 || len(r.Parts[0].Words) == 0 || r.Parts[0].Words[0] != client {
		return "", false
	}
	if !r.Understood || r.Loops || r.Defines || r.NetworkIntoInterpreter || r.InteractiveShell || len(r.Sets) > 0 {
		return "", false
	}
	ran := 0
	for i := range r.Effects {
		switch e := &r.Effects[i]; e.Kind {
		case shellscan.Execute:
			if ran++; ran > 1 || e.Command != client {
				return "", false
			}
		case shellscan.Read, shellscan.Write:
		default:
			return "", false
		}
	}
	shows := func(e floodmark.Effect) bool { return e == floodmark.Observe || e == floodmark.Write }
	for _, p := range r.Parts[1:] {
		if len(p.Effects) == 0 || slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return !shows(e) }) {
			return "", false
		}
	}
	words := r.Parts[0].Words
	c, ok := find(words)
	if !ok {
		return "", false
	}
	if _, _, ok = c.read(words[1:]); !ok {
		return "", false
	}
	return asked(words[1:])
}

// asked is the one host among the options of psql, if they hold a statement.
func asked(words []string) (host string, ok bool) {
	hosts, statements := 0, 0
	for i, w := range words {
		name, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch name {
		case "-h", "--host":
			host = value
			hosts++
		case "-c", "--command":
			statements++
		default:
		}
	}
	return host, hosts == 1 && statements > 0
}

// Databases are the hosts that the text of a password file of PostgreSQL names, one login to a line:
// host:port:database:name:password. A host that is any, or no plain name, is none.
func Databases(text string) (hosts []string) {
	for line := range strings.Lines(text) {
		host, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.Count(rest, ":") >= 3 && is("host", host) && !slices.Contains(hosts, host) && len(hosts) < maxHosts {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
