package truth

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// anything reports whether a report covers every effect, because it says that the line was
// not understood or that it runs code.
func anything(r *shellscan.Report) bool {
	return !r.Understood || r.Has(shellscan.Anything) || r.Has(shellscan.Execute) || r.NetworkIntoInterpreter
}

// covers reports whether a report covers an effect.
func covers(r *shellscan.Report, e effect) bool {
	if anything(r) {
		return true
	}
	if (e.Kind == signals || e.Kind == mounts) && houseStrength(r) <= floodmark.Change {
		return true // these effects have no path, so the effect of a catalog entry covers them
	}
	if filepath.Base(e.By) == "git" && gitWrites(r) && (e.Kind == writes && inGit(e.Path) || e.Kind == reads && !e.Secret) {
		return true
	}
	return slices.ContainsFunc(r.Effects, func(said shellscan.Effect) bool { return allows(said, e) })
}

// gitWrites reports whether the catalog entry of a git command in a report says that the command
// writes. Then git may write to .git and read any file of the repository.
func gitWrites(r *shellscan.Report) bool {
	return slices.ContainsFunc(r.Parts, func(p shellscan.Part) bool {
		return len(p.Words) > 0 && filepath.Base(p.Words[0]) == "git" && slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return e <= floodmark.Write })
	})
}

func inGit(path string) bool {
	return strings.HasSuffix(path, "/.git") || strings.Contains(path, "/.git/") && !strings.Contains(path, "/.git/hooks/")
}

// allows reports whether an effect of a report includes an effect that was seen.
func allows(said shellscan.Effect, e effect) bool {
	switch e.Kind {
	case reads:
		if said.Kind == shellscan.Environment && e.Secret {
			return true
		}
		return (said.Kind == shellscan.Read || said.Kind == shellscan.Write || said.Kind == shellscan.Delete) && matches(said, e.Path)
	case writes:
		switch said.Kind {
		case shellscan.Write, shellscan.Delete, shellscan.Admin:
			// A program that writes a file may also make the folders above it.
			return matches(said, e.Path) || strings.HasPrefix(said.Path, e.Path+"/")
		}
	case deletes:
		return (said.Kind == shellscan.Delete || said.Kind == shellscan.Admin || e.Moved && said.Kind == shellscan.Write) && matches(said, e.Path)
	case calls:
		return said.Kind == shellscan.Fetch || said.Kind == shellscan.Send || said.Kind == shellscan.Listen
	case signals, mounts:
		return said.Kind == shellscan.Admin
	}
	return false
}

// matches reports whether the path or pattern of a reported effect includes a path. In a pattern
// «*» matches any text, «?» and «[…]» match any letter, and «/**/» matches any folders or none, as
// in the rest of Floodmark.
func matches(said shellscan.Effect, path string) bool {
	if said.Path == "" && said.URL == "" {
		return true
	}
	name := strings.TrimSuffix(said.Path, "/")
	for _, pattern := range []string{name, strings.ReplaceAll(name, "/**/", "/")} {
		if glob(pattern, path) || said.Tree && glob(pattern+"/*", path) {
			return true
		}
	}
	return false
}

// glob reports whether a pattern matches a whole text.
func glob(pattern, text string) bool {
	for ; pattern != ""; pattern = pattern[1:] {
		switch pattern[0] {
		case '*':
			for i := range len(text) + 1 {
				if glob(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case '[':
			if end := strings.IndexByte(pattern, ']'); end > 0 && text != "" {
				pattern, text = pattern[end:], text[1:]
				continue
			}
		case '?':
			if text != "" {
				text = text[1:]
				continue
			}
		}
		if text == "" || text[0] != pattern[0] {
			return false
		}
		text = text[1:]
	}
	return text == ""
}

// underEstimates returns the effects that a report does not cover.
func underEstimates(r *shellscan.Report, seen []effect) []effect {
	var all []effect
	for _, e := range seen {
		if !covers(r, e) {
			all = append(all, e)
		}
	}
	return all
}

// weaker returns the empty string if a report says at least as much as the word of a sample.
// Otherwise it says what the line is.
func weaker(r *shellscan.Report, word string) string {
	if word == "" || word == "read" || word == "admin" { // whether a path is admin, the catalog decides
		return ""
	}
	enough := map[string][]shellscan.Kind{
		"environment": {shellscan.Environment},
		"fetch":       {shellscan.Fetch, shellscan.Send, shellscan.Listen},
		"write":       {shellscan.Write, shellscan.Delete, shellscan.Admin},
		"delete":      {shellscan.Delete, shellscan.Admin},
		"send":        {shellscan.Send, shellscan.Listen},
		"listen":      {shellscan.Listen, shellscan.Send},
		"run":         {},
	}
	if anything(r) {
		return ""
	}
	if word == "secret" {
		for name := range secrets() {
			if path := home + "/" + name; secret(path) && covers(r, effect{Kind: reads, Path: path, Secret: true}) {
				return ""
			}
		}
		for _, path := range []string{"/etc/shadow", "/proc/self/environ"} {
			if covers(r, effect{Kind: reads, Path: path, Secret: true}) {
				return ""
			}
		}
	}
	if slices.ContainsFunc(enough[word], r.Has) || houseStrength(r) <= houseWord(word) {
		return ""
	}
	return "is " + word
}

// houseWord returns Floodmark's effect for a word of a corpus.
func houseWord(word string) floodmark.Effect {
	return map[string]floodmark.Effect{
		"admin": floodmark.Admin, "run": floodmark.Run, "send": floodmark.Send, "listen": floodmark.Send,
		"delete": floodmark.Change, "write": floodmark.Write, "fetch": floodmark.Fetch,
	}[word]
}

// houseStrength returns the strongest effect in a report, including the effects of catalog entries,
// which also cover what commands do outside this machine.
func houseStrength(r *shellscan.Report) floodmark.Effect {
	most := floodmark.Observe
	if anything(r) {
		most = floodmark.Run
	}
	for _, e := range r.Effects {
		switch e.Kind {
		case shellscan.Admin:
			most = min(most, floodmark.Admin)
		case shellscan.Send, shellscan.Listen:
			most = min(most, floodmark.Send)
		case shellscan.Delete:
			most = min(most, floodmark.Change)
		case shellscan.Write:
			most = min(most, floodmark.Write)
		case shellscan.Fetch:
			most = min(most, floodmark.Fetch)
		}
	}
	for _, p := range r.Parts {
		for _, e := range p.Effects {
			most = min(most, e)
		}
	}
	return most
}

// seenStrength returns the strongest effect that was seen.
func seenStrength(seen []effect) floodmark.Effect {
	most := floodmark.Observe
	for _, e := range seen {
		switch e.Kind {
		case signals, mounts:
			most = min(most, floodmark.Admin)
		case starts, codes:
			most = min(most, floodmark.Run)
		case calls:
			most = min(most, floodmark.Fetch)
		case deletes:
			most = min(most, floodmark.Change)
		case writes:
			most = min(most, floodmark.Write)
		}
	}
	return most
}

// judgedWords returns a short text of a report.
func judgedWords(r *shellscan.Report) string {
	all := []string{houseStrength(r).String()}
	for _, e := range r.Effects {
		text := e.Kind.String() + " " + e.Path + e.URL
		if e.Tree {
			text += "/**"
		}
		all = append(all, text)
	}
	if len(all) > 8 {
		all = append(all[:8], "…")
	}
	if !r.Understood {
		all = append(all, "not understood: "+strings.Join(r.Why, "; "))
	}
	return strings.Join(all, ", ")
}
