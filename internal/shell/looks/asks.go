package looks

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// maxHosts bounds the databases read from one password file.
const maxHosts = 1000

// Asks returns the host and port of the database that a line queries with psql. The statements must
// only read, and the line may do nothing else but show the result or write it to a file. A
// statement in an option goes to the server, so psql runs nothing except what its settings say. The
// host learns the statement.
func Asks(r *shellscan.Report, line string) (host, port string, ok bool) {
	const client = "psql"
	if strings.ContainsAny(line, "$`\\<\n") || matches(line) || len(r.Parts) == 0 || len(r.Parts[0].Words) == 0 || r.Parts[0].Words[0] != client {
		return "", "", false
	}
	if !straight(r) {
		return "", "", false
	}
	ran := 0
	for i := range r.Effects {
		switch e := &r.Effects[i]; e.Kind {
		case shellscan.Execute:
			if ran++; ran > 1 || e.Command != client {
				return "", "", false
			}
		case shellscan.Read, shellscan.Write:
		default:
			return "", "", false
		}
	}
	shows := func(e floodmark.Effect) bool { return e == floodmark.Observe || e == floodmark.Write }
	for _, p := range r.Parts[1:] {
		if len(p.Effects) == 0 || slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return !shows(e) }) {
			return "", "", false
		}
	}
	words := r.Parts[0].Words
	c, ok := find(words)
	if !ok {
		return "", "", false
	}
	if _, _, ok = c.read(words[1:]); !ok {
		return "", "", false
	}
	return asked(words[1:])
}

// matches reports whether a shell expands a pattern or braces in a line.
func matches(line string) bool {
	quote := rune(0)
	for _, c := range line {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case quote == 0 && strings.ContainsRune("*?[{", c):
			return true
		}
	}
	return false
}

// asked returns the host and port in the options of psql. It returns false unless there is exactly
// one host, at most one port, and a statement.
func asked(words []string) (host, port string, ok bool) {
	hosts, ports, statements := 0, 0, 0
	port = "5432"
	for i, w := range words {
		name, value, joined := strings.Cut(w, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch name {
		case "-h", "--host":
			host = value
			hosts++
		case "-p", "--port":
			port = value
			ports++
		case "-c", "--command":
			statements++
		default:
		}
	}
	return host, port, hosts == 1 && ports <= 1 && statements > 0
}

// Databases returns «host:port» for each login in the text of a PostgreSQL password file, whose
// lines are host:port:database:name:password. Lines without a plain host name are left out.
func Databases(text string) (list []string) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 5)
		if len(f) < 5 || !is("host", f[0]) || f[1] != "*" && !is("number", f[1]) {
			continue
		}
		if at := f[0] + ":" + f[1]; !slices.Contains(list, at) && len(list) < maxHosts {
			list = append(list, at)
		}
	}
	return list
}

// At returns the look with the database at a host and port, if alone is set. Alone says that the
// line reaches nothing else and writes only where any other line may write.
func (l Look) At(host, port string, alone bool) Look {
	if alone {
		l.Database = host + ":" + port
	}
	return l
}

// KeptIn reports whether the look queries a database that is in a list of [Databases].
func (l Look) KeptIn(list []string) bool {
	host, _, _ := strings.Cut(l.Database, ":")
	return host != "" && (slices.Contains(list, l.Database) || slices.Contains(list, host+":*"))
}
