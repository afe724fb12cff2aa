package deeds

import (
	"strconv"
	"strings"
)

// git explains a push. It does not explain other git commands.
func git(words []word) []Deed {
	strange, settled := false, true
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		if words[0].text != "-C" || len(words) < 2 {
			strange = true // a setting may change where the push goes
		}
		settled = false // the push may be made in another project
		if words[0].text == "-C" || words[0].text == "-c" {
			words = words[1:]
		}
		words = words[min(1, len(words)):]
	}
	if len(words) == 0 || !words[0].known || words[0].text != "push" {
		return nil
	}
	p := push{strange: strange}
	p.read(words[1:])
	list := p.deeds()
	for i := range list {
		list[i].Push, list[i].Settled = true, settled && !p.strange
		if !p.strange {
			list[i].To = p.to
		}
	}
	return list
}

// A push holds what the words of a push say.
type push struct {
	force, deletes, mirror, prune, all, tags, follow bool
	strange                                          bool // something in it is not explained here
	to                                               string
	refs                                             []string
}

func (p *push) read(words []word) {
	ended := false
	for i := 0; i < len(words); i++ {
		w := words[i].text
		if !words[i].known || w == "" {
			p.strange = true // the word may be an option
		}
		switch {
		case !ended && w == "--":
			ended = true
		case !ended && strings.HasPrefix(w, "--"):
			if p.long(w) {
				i++
			}
		case !ended && strings.HasPrefix(w, "-") && len(w) > 1:
			if p.short(w[1:]) {
				i++
			}
		case p.to == "":
			p.to = w
		default:
			p.refs = append(p.refs, w)
			p.strange = p.strange || w == "tag" || strings.ContainsAny(w, "*^") // «tag v1» or a pattern
		}
	}
	p.strange = p.strange || p.prune && (p.tags || p.follow)
}

// long reads a long option. It reports whether the next word is its value.
func (p *push) long(w string) (takes bool) {
	name, _, given := strings.Cut(w[2:], "=")
	switch name {
	case "force", "force-with-lease":
		p.force = true
	case "delete":
		p.deletes = true
	case "mirror":
		p.mirror = true
	case "prune":
		p.prune = true
	case "all", "branches":
		p.all = true
	case "tags":
		p.tags = true
	case "follow-tags":
		p.follow = true
	case "repo": // the remote, but only if no operand names one
		p.strange = true
		return !given
	case "quiet", "verbose", "progress", "no-progress", "porcelain", "set-upstream", "thin", "no-thin", "atomic", "no-atomic",
		"no-verify", "verify", "no-follow-tags", "force-if-includes", "no-force-if-includes", "ipv4", "ipv6":
	case "push-option":
		return !given
	default:
		p.strange = true // git accepts shortened options, so this may be any option
	}
	return false
}

// short reads combined short options such as «uf». It reports whether the next word is the value of
// the last one.
func (p *push) short(letters string) (takes bool) {
	for i, c := range letters {
		switch c {
		case 'f':
			p.force = true
		case 'd':
			p.deletes = true
		case 'o':
			return i == len(letters)-1
		case 'u', 'v', 'q', 'n', '4', '6':
		default:
			p.strange = true
		}
	}
	return false
}

// deeds returns what a push does to the branches of the remote.
func (p *push) deeds() (list []Deed) {
	at := []Piece{{Text: " at "}, {p.to, true}}
	if p.to == "" {
		at = []Piece{{Text: " the place that git's settings name"}}
	}
	if p.strange {
		rest := []Piece{{Text: "in a way that is not explained here"}} // an option may also change where it goes
		if p.force || p.deletes || p.mirror || p.prune {
			rest = append(rest, Piece{Text: ", over or without what is there"})
		}
		return []Deed{{Verb: "push ", Verbs: "pushes ", Rest: rest}}
	}
	var plain, forced, gone []string
	for _, r := range p.refs {
		plus := strings.HasPrefix(r, "+")
		from, to, split := strings.Cut(strings.TrimPrefix(r, "+"), ":")
		if !split {
			to = from
		}
		to = strings.TrimPrefix(to, "refs/heads/")
		switch {
		case split && from == "" && to != "", p.deletes:
			gone = append(gone, to)
		case split && from == "" && to == "": // «:» pushes all branches that exist on both sides
			p.all = true
			p.force = p.force || plus
		case plus, p.force:
			forced = append(forced, to)
		default:
			plain = append(plain, to)
		}
	}
	switch {
	case p.mirror:
		return []Deed{{Verb: "make ", Verbs: "makes ", Rest: append(append([]Piece{{Text: "all branches"}}, at...), Piece{Text: " as they are here, by force"})}}
	case p.all:
		list = append(list, deed(p.force, append([]Piece{{Text: "all branches to"}}, bare(p.to)...)))
	case len(p.refs) == 0 && !p.tags:
		list = append(list, deed(p.force, append([]Piece{{Text: "this branch to"}}, bare(p.to)...)))
	}
	if len(plain) > 0 {
		list = append(list, deed(false, append(append([]Piece{{Text: "to "}}, named(plain)...), at...)))
	}
	if len(forced) > 0 {
		list = append(list, deed(true, append(append([]Piece{{Text: "to "}}, named(forced)...), at...)))
	}
	if p.tags || p.follow {
		list = append(list, deed(p.force, append([]Piece{{Text: "all tags to"}}, bare(p.to)...)))
	}
	if len(gone) > 0 {
		list = append(list, Deed{Verb: "delete ", Verbs: "deletes ", Rest: append(named(gone), at...)})
	}
	if p.prune {
		list = append(list, Deed{Verb: "delete ", Verbs: "deletes ", Rest: append([]Piece{{Text: "the branches that are not here"}}, at...)})
	}
	return list
}

func deed(force bool, rest []Piece) Deed {
	if force {
		return Deed{Verb: "push by force, over what is there, ", Verbs: "pushes by force, over what is there, ", Rest: rest}
	}
	return Deed{Verb: "push ", Verbs: "pushes ", Rest: rest}
}

func bare(to string) []Piece {
	if to == "" {
		return []Piece{{Text: " the place that git's settings name"}}
	}
	return []Piece{{Text: " "}, {to, true}}
}

func more(n int) string { return strconv.Itoa(n) + " more" }
