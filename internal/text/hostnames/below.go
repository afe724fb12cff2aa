package hostnames

import (
	"net/url"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/openhost"
)

// Below reports whether a text names a host only in paths below the address of a repository, as
// code names the packages of a project: the host, the path of the repository and a path of plain
// names, without a scheme. It returns the last parts. It returns false for a host on which
// strangers can publish, because the owner of what is below a repository is not known there.
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

// disguised reports whether a text names a host in other characters that programs may fold to its
// letters.
func disguised(text, host string) bool {
	for tok := range tokens.Tokens(text) {
		if named(tok, text) == host && !strings.Contains(strings.ToLower(text[tok.Start:tok.End]), host) {
			return true
		}
	}
	return false
}

// goesOn reports whether a text begins with a quotation mark after which a shell continues the same
// word.
func goesOn(rest string) bool {
	return len(rest) > 1 && strings.ContainsAny(rest[:1], "\"'") && !strings.ContainsAny(rest[1:2], " \t\r\n,;)")
}

// place splits the address of a repository into host and path, in lower case.
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
