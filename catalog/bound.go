package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// bound reports whether all code that a line runs is run by commands whose
// words only choose among what the files they load do: tests, builds, checks. The
// line itself must not have changed a file before, but by text that can only
// compute.
func bound(r *shellscan.Report, inert []string) bool {
	if !r.Understood || r.NetworkIntoInterpreter || r.InteractiveShell || r.Variables {
		return false
	}
	var names []string
	changed := false // git changed something
	for i := range r.Parts {
		p := &r.Parts[i]
		if !slices.Contains(p.Effects, floodmark.Run) {
			changed = changed || len(p.Words) > 0 && p.Words[0] == "git" && slices.ContainsFunc(p.Effects, alters)
			continue
		}
		if changed || len(p.Words) == 0 || namesMore(p.Words) || !slices.Equal(p.Effects, []floodmark.Effect{floodmark.Run}) || !p.Bound && !allBound(p.Entries) {
			return false
		}
		names = append(names, p.Words[0])
	}
	byGit := false // git changed something, so nothing may run after it
	for i := range r.Effects {
		e := &r.Effects[i]
		switch {
		case e.Kind <= shellscan.Execute && (byGit || e.Path == "" || !slices.Contains(names, e.Command)):
			return false
		case e.Kind <= shellscan.Execute:
		case e.Kind != shellscan.Write && e.Kind != shellscan.Delete:
		case e.Command == "git" && r.Loops: // what ran before may run again
			return false
		case e.Command == "git": // as with «make test && git stash»
			byGit = true
		case !slices.Contains(names, e.Command) && !formats(e.Command) && !slices.Contains(inert, e.Path) && touchesLoaded(r, e):
			return false
		}
	}
	return len(names) > 0 && len(r.Effects) <= maxBound
}

// check names the command of the catalog that a line is, if it is one and the
// shell does nothing but start it: no folder, file or variable besides.
func check(r *shellscan.Report) string {
	if len(r.Parts) != 1 || r.Shell || r.Loops || len(r.Sets) > 0 || len(r.Puts) > 0 || len(r.Parts[0].Entries) != 1 || !r.Parts[0].Entries[0].Bound {
		return ""
	}
	return strings.Join(r.Parts[0].Entries[0].Words, " ")
}

// maxBound is how many effects a line may have whose files are all looked at.
const maxBound = 48

func alters(e floodmark.Effect) bool { return e == floodmark.Write || e == floodmark.Change }

// namesMore reports words that may name other code than the files of the
// project: a file of further words, words for the program that is tested, or
// packages of somebody else.
func namesMore(words []string) bool {
	behind := false
	for _, w := range words[1:] {
		host, _, path := strings.Cut(w, "/")
		switch {
		case strings.HasPrefix(w, "@"), strings.Contains(w, "://"):
			return true
		case w == "--":
			behind = true
		case behind && strings.HasPrefix(w, "-") && !slices.Contains([]string{"--nocapture", "--show-output", "--ignored", "--test-threads=1"}, w):
			return true
		case words[0] == "go" && !strings.HasPrefix(w, ".") && !strings.HasPrefix(w, "-") && path && host != "" && strings.Contains(host, "."):
			return true
		}
	}
	return false
}

// touchesLoaded reports whether an effect may concern a file that is run.
func touchesLoaded(r *shellscan.Report, e *shellscan.Effect) bool {
	return e.Pattern || e.Tree || slices.ContainsFunc(r.Effects, func(x shellscan.Effect) bool {
		return x.Kind == shellscan.Execute && (x.Path == "" || x.Path == "/" || within(e.Path, x.Path))
	})
}

func allBound(entries []*shellscan.Entry) bool {
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e *shellscan.Entry) bool { return !e.Bound })
}
