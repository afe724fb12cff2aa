package catalog

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/fetching"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// watch are the names by which the monitor and the agents it watches are found. Like the lists of
// paths it only tightens.
type watch struct {
	variables []string          // «*» stands for any letters
	homes     map[string]string // by variable: what it moves
	programs  []string          // what an agent's program is called
	packages  []string          // under which an agent is published
}

func (w *watch) join(more *watch) {
	w.variables = append(w.variables, more.variables...)
	w.programs = append(w.programs, more.programs...)
	w.packages = append(w.packages, more.packages...)
	if w.homes == nil {
		w.homes = map[string]string{}
	}
	maps.Copy(w.homes, more.homes)
}

func (w *watch) empty() bool {
	return len(w.variables)+len(w.homes)+len(w.programs)+len(w.packages) == 0
}

// watched reads the names of the monitor and its agents.
func (r *reader) watched(f *File, n *yaml.Node) {
	fs := r.fields(n, "self", "variables", "homes", "programs", "packages")
	for name, into := range map[string]*[]string{
		"variables": &f.watch.variables, "programs": &f.watch.programs, "packages": &f.watch.packages,
	} {
		if list, ok := fs[name]; ok {
			*into = valuesOf(r.texts(list.value, name))
		}
	}
	homes, ok := fs["homes"]
	if !ok {
		return
	}
	f.watch.homes = map[string]string{}
	for i := 0; homes.value.Kind == yaml.MappingNode && i+1 < len(homes.value.Content); i += 2 {
		at := homes.value.Content[i+1]
		text := r.text(at, "homes")
		if !strings.HasPrefix(text, "~/") {
			r.fail(at, "wrong-path", "write it like ~/.agent", "%q is no place in a home", shorten(text))
		}
		f.watch.homes[homes.value.Content[i].Value] = text
	}
	if homes.value.Kind != yaml.MappingNode {
		r.fail(homes.value, "wrong-type", "write homes: {VARIABLE: ~/.agent}", "homes: needs names and places")
	}
}

// Moved returns what is guarded outside the usual places because variables move it: patterns by
// list, as under paths: in a file.
func (c *Catalog) Moved(getenv func(string) string) map[string][]string {
	lists := map[string][]string{}
	add := func(on guard, place string) {
		for word, list := range guardLists() {
			if on&list == list && !slices.Contains(lists[word], place) {
				lists[word] = append(lists[word], place)
			}
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(c.watch.homes)) {
		to := strings.TrimRight(getenv(variable), "/")
		if !filenames.Absolute(to) || strings.ContainsAny(to, "*?") {
			continue
		}
		usual := c.watch.homes[variable]
		here := c.paths.look(usual, "", Places{}, nil)
		add(here.guard, to)
		usual, _ = strings.CutPrefix(usual, "~/")
		for i := range c.paths.globs {
			g := &c.paths.globs[i]
			_, text, _ := strings.Cut(g.String(), "/")
			if below, ok := strings.CutPrefix(text, usual+"/"); ok && g.root != absolute {
				add(g.guard, to+"/"+below)
			}
		}
	}
	return lists
}

// watches looks, in what a scan has found, for attempts to take an agent off the monitor's path or
// to stop the monitor.
func (j *judge) watches(r *shellscan.Report) {
	w := &j.catalog.watch
	sets := slices.ContainsFunc(r.Sets, w.moves)
	hides, starts := slices.ContainsFunc(r.Sets, shellscan.Hides), false
	for i := range r.Parts {
		p := &r.Parts[i]
		for _, e := range p.Entries {
			sets = sets || e.Branch && hides || e.Stops != commandbook.StopsNone && stopsMonitor(e.Stops, p.Words)
			starts = starts || e.Starts
		}
		if len(p.Entries) == 0 && len(p.Words) > 0 {
			sets = sets || w.program(p.Words[0])
		}
		if slices.ContainsFunc(p.Effects, func(e floodmark.Effect) bool { return e <= floodmark.Change }) {
			sets = sets || slices.ContainsFunc(p.Words, w.assigns)
		}
	}
	if starts {
		j.unfollowed(r)
	}
	for i := range r.Effects { // node …/openclaw.mjs
		e := &r.Effects[i]
		sets = sets || e.Kind == shellscan.Execute && !e.Tree && strings.Contains(e.Path, "/node_modules/") && w.packed(e.Path)
	}
	if sets || slices.ContainsFunc(fetching.Packages(r), func(name string) bool { return slices.Contains(w.packages, name) }) {
		j.guards |= isProtected
	}
}

// unfollowed examines the words of a line in which some program takes words, or its input, as a
// command.
func (j *judge) unfollowed(r *shellscan.Report) {
	for i := range r.Parts {
		words := r.Parts[i].Words
		for _, text := range words[min(1, len(words)):] {
			j.mentioned(text)
			for _, word := range mentions(text) {
				if slices.Contains(j.catalog.watch.programs, lastName(word)) {
					j.guards |= isProtected
				}
			}
		}
	}
}

// moves reports whether a variable moves an agent's settings or the monitor.
func (w *watch) moves(name string) bool {
	return slices.ContainsFunc(w.variables, func(pattern string) bool { return matchSegment(pattern, name) })
}

// assigns reports whether a word sets such a variable.
func (w *watch) assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && w.moves(name)
}

// program reports whether a file in a folder of programs has an agent's name.
func (w *watch) program(file string) bool {
	dir := strings.TrimSuffix(file, "/"+lastName(file))
	return dir != file && strings.HasSuffix(dir, "bin") && slices.Contains(w.programs, lastName(file))
}

// packed reports whether a file is of a package under which an agent is published.
func (w *watch) packed(file string) bool {
	return slices.ContainsFunc(w.packages, func(name string) bool { return strings.Contains(file, "/node_modules/"+name+"/") })
}

// lastName returns the last part of a path.
func lastName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// monitorName begins the names of our programs. monitorLine is how the daemon looks in a list of
// processes.
const (
	monitorName = "floodmark"
	monitorLine = "floodmark-hook /usr/bin/floodmark serve"
)

// stopsMonitor reports whether words that stop processes name the monitor, or every process.
func stopsMonitor(how commandbook.Stops, words []string) bool {
	if len(words) > 2 && slices.Contains(words[2:], "-1") { // kill -9 -1
		return true
	}
	for _, word := range words[min(1, len(words)):] {
		low := strings.ToLower(word)
		switch {
		case strings.Contains(low, monitorName):
			return true
		case word == "" || word[0] == '-' || word == "*": // an option, or an unknown word
		case how == commandbook.StopsMatches:
			if re, err := regexp.Compile(low); err != nil || re.MatchString(monitorLine) {
				return true
			}
		case strings.ContainsAny(word, "*?["):
			if matchSegment(low, monitorName) || matchSegment(low, monitorName+".service") || strings.Contains(word, "[") {
				return true
			}
		}
	}
	return false
}
