package hostnames

import (
	"net/url"
	"strings"

	"github.com/floodmark/floodmark/internal/openhost"
	"github.com/floodmark/floodmark/internal/tokens"
)

// Below reports that a text names a host nowhere but in addresses below that of a repository, as code names the
// packages of a project: host, path of the repository, and a path there of plain names, without a scheme. It returns
// these paths. On a host where strangers publish, who owns what is below a repository is not known.
func Below(text, host, remote string) (paths []string, ok bool) {
	at, repository := place(remote)
	if at == "" || at != host || repository == "" || openhost.Is(host) || disguised(text, host) {
		return nil, false
	}
	const name = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	text = strings.ToLower(text)
	for {
		i := strings.Index(text, host)
		if i < 0 {
			return paths, true
		}
		before, after := text[:i], text[i+len(host):]
		if before != "" && strings.ContainsAny(before[len(before)-1:], name+"./@%\\:=)}`$") {
			return nil, false
		}
		rest, in := strings.CutPrefix(after, "/"+repository)
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune(name+"/", r) })
		if end < 0 {
			end = len(rest)
		}
		if !in || end > 0 && rest[0] != '/' || end < len(rest) && strings.ContainsAny(rest[end:end+1], ".%?#@:\\~$`{*[+") || goesOn(rest[end:]) {
			return nil, false
		}
		paths, text = append(paths, strings.Trim(rest[:end], "/")), rest[end:]
	}
}

// disguised reports a text that names a host in other letters than its own, as readers that fold them do.
func disguised(text, host string) bool {
	for tok := range tokens.Tokens(text) {
		if named(tok, text) == host && !strings.Contains(strings.ToLower(text[tok.Start:tok.End]), host) {
			return true
		}
	}
	return false
}

// goesOn reports a quotation mark behind which a shell goes on with the same word.
func goesOn(rest string) bool {
	return len(rest) > 1 && strings.ContainsAny(rest[:1], "\"'") && !strings.ContainsAny(rest[1:2], " \t\r\n,;)")
}

// place takes the address of a repository apart: its host and its path, in lower case.
func place(remote string) (host, path string) {
	remote = strings.ToLower(remote)
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil {
			return "", ""
		}
		host, path = u.Hostname(), u.Path
	} else {
		host, path, _ = strings.Cut(remote, ":")
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	return host, strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
