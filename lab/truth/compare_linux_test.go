package truth

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// anything reports whether a report allows for everything: it says that the
// line was not understood, or that it runs code.
func anything(r *shellscan.Report) bool {
	return !r.Understood || r.Has(shellscan.Anything) || r.Has(shellscan.Execute) || r.NetworkIntoInterpreter
}

// covers reports whether a report allows for an effect.
func covers(r *shellscan.Report, e effect) bool {
	if anything(r) {
		return true
	}
	if (e.Kind == signals || e.Kind == mounts) && houseStrength(r) <= floodmark.Change {
		return true // entries speak for what has no path
	}
	if filepath.Base(e.By) == "git" && gitWrites(r) && (e.Kind == writes && inGit(e.Path) || e.Kind == reads && !e.Secret) {
		return true
	}
	return slices.ContainsFunc(r.Effects, func(said shellscan.Effect) bool { return allows(said, e) })
}

// gitWrites reports whether a report says that git writes, as an entry says it:
// then it may write its own store, out of any file it keeps.
func gitWrites(r *shellscan.Report) bool {
	return slices.ContainsFunc(r.Parts, func(p shellscan.Part) bool {
		return len(p.Words) > 0 && filepath.Base(p.Words[0]) == "git" && slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return e <= floodmark.Write })
	})
}

func inGit(path string) bool {
	return strings.HasSuffix(path, "/.git") || strings.Contains(path, "/.git/") && !strings.Contains(path, "/.git/hooks/")
}

// allows reports whether what was said includes what was seen.
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
			// Folders on the way to what is written are written too.
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

// matches reports whether a path is among those an effect is said to concern.
// A pattern is one as the rest of the house reads it: «*» is any text, «?» and
// «[…]» any letter, «/**/» any folders or none.
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

// glob matches a pattern with a whole text.
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

// underEstimates are the effects that a report does not allow for.
func underEstimates(r *shellscan.Report, seen []effect) []effect {
	var all []effect
	for _, e := range seen {
		if !covers(r, e) {
			all = append(all, e)
		}
	}
	return all
}

// weaker says how a report falls short of a sample's word, or nothing.
func weaker(r *shellscan.Report, word string) string {
	if word == "" || word == "read" || word == "admin" { // what is admin, paths decide: the catalog
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

// houseWord is a word of a corpus as the house says it.
func houseWord(word string) floodmark.Effect {
	return map[string]floodmark.Effect{
		"admin": floodmark.Admin, "run": floodmark.Run, "send": floodmark.Send, "listen": floodmark.Send,
		"delete": floodmark.Change, "write": floodmark.Write, "fetch": floodmark.Fetch,
	}[word]
}

// houseStrength is the strongest thing a report says. Entries speak for
// commands whose effects have no place on this machine.
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

// seenStrength is the strongest thing that was seen.
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

// judgedWords tells a report in a few words.
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
