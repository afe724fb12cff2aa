package kernel

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// A touch is which files a call reads, writes and loads, as clean paths, as far as that is known.
type touch struct {
	reads, writes, loads []string
	hooks                []string // files that are loaded if they exist
	sure                 []string // the files of loads that the catalog knows of
	guessed              bool     // its paths are words of a command line: one matters only if something is known of it
	runs                 string   // the folder in which the call runs code, empty if it does not
	// whole says that the only path is written as a whole; digest is then that of its content.
	whole  bool
	digest floodmark.Digest
}

// touched finds out which files a call touches.
func (st *step) touched(j *judged) touch {
	if st.in.Artifacts == nil && st.in.Disk == nil || j.use.Profile == nil {
		return touch{}
	}
	t := st.touchedByTool(j)
	if j.use.Commands() {
		t = st.touchedByCommand(j)
	}
	t.reads, t.writes, t.loads = st.resolved(t.reads), st.resolved(t.writes), st.resolved(t.loads)
	t.sure, t.hooks = st.resolved(t.sure), st.resolved(t.hooks)
	return t
}

// touchedByTool finds out which files the arguments of a call name.
func (st *step) touchedByTool(j *judged) touch {
	var t touch
	paths, contents, odd := []string(nil), 0, false
	for _, leaf := range j.leaves {
		if leaf.Kind != hook.String || leaf.Value == "" {
			continue
		}
		switch a := j.use.Arg(leaf.Top); {
		case a.Is == catalog.IsPath:
			paths = append(paths, st.named(leaf.Value)...)
			odd = odd || filenames.Odd(leaf.Value, st.places().Clean(leaf.Value, ""), catalog.FoldPath(leaf.Value))
		case a.Is == catalog.IsPatch:
			for _, name := range filenames.OfPatch(leaf.Value) {
				paths = append(paths, st.named(name)...)
			}
		case a.Role == floodmark.Content:
			contents++
			t.whole, t.digest = a.Is == catalog.IsFile, floodmark.DigestOf(leaf.Value)
		}
	}
	if len(paths) == 0 && j.use.ByPath && j.use.Place != "" {
		paths = []string{j.use.Place}
	}
	paths = unique(paths)
	t.whole = t.whole && !odd && contents == 1 && len(paths) == 1
	if writes(j.action.Effects) {
		t.writes = paths
	} else {
		t.reads, t.whole = paths, false
	}
	return t
}

// named returns the clean paths that an agent may open for a path in a call.
func (st *step) named(name string) []string {
	return st.cleaned(append([]string{name}, filenames.Respelled(name)...), "")
}

// touchedByCommand finds out which files a command line touches: those the
// catalog knows of, or else every word that could be one.
func (st *step) touchedByCommand(j *judged) touch {
	base, u := st.s.Project, &j.use
	var lines []string
	for _, leaf := range j.leaves {
		if leaf.Kind != hook.String || leaf.Value == "" || leaf.Top == floodmark.CommandAddress {
			continue
		}
		switch a := u.Arg(leaf.Top); a.Is {
		case catalog.IsPath:
			base = st.places().Clean(leaf.Value, "")
		case catalog.IsCommand:
			lines = append(lines, leaf.Value)
		}
	}
	t := touch{reads: slices.Concat(u.Reads, u.Loads), writes: u.Writes, loads: u.Loads}
	known := len(t.reads)+len(t.writes)+len(u.Hooks) > 0 && !u.Opaque
	runs := slices.Contains(j.action.Effects, floodmark.Run)
	if runs {
		t.runs = base
	}
	if !known {
		t.guessed = true
		named := st.mentioned(lines, base)
		t.reads = append(t.reads, named...)
		if runs || writes(j.action.Effects) {
			t.writes = append(slices.Clip(t.writes), named...)
		}
		if runs {
			t.loads = append(slices.Clip(t.loads), named...)
			if base != "" {
				t.loads = append(t.loads, base+"/**")
			}
		}
	}
	t.reads, t.writes, t.loads = st.cleaned(t.reads, base), st.cleaned(t.writes, base), st.cleaned(t.loads, base)
	t.sure, t.hooks = st.cleaned(u.Loads, base), st.cleaned(u.Hooks, base)
	return t
}

// cleaned returns the paths of a command line as seen from the folder it runs in.
func (st *step) cleaned(paths []string, base string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = st.places().Clean(p, base)
	}
	return unique(out)
}

// mentioned returns the words of command lines that could be paths.
func (st *step) mentioned(lines []string, base string) []string {
	var list []string
	for _, line := range lines {
		words := strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("\"'`;|&<>(){}$=,", r)
		})
		for _, w := range words {
			if len(list) >= maxArtifactPaths {
				return list
			}
			if strings.HasPrefix(w, "-") || len(w) > catalog.MaxPathBytes || strings.Contains(w, "://") {
				continue
			}
			if p := st.places().Clean(w, base); path.IsAbs(p) && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// writes reports whether effects alter files.
func writes(effects []floodmark.Effect) bool {
	return slices.ContainsFunc(effects, func(e floodmark.Effect) bool {
		return e == floodmark.Write || e == floodmark.Change || e == floodmark.Admin || e == floodmark.Run
	})
}

// unique returns a list without repetitions and empty paths, and with at most maxArtifactPaths
// paths.
func unique(list []string) []string {
	var out []string
	for _, p := range list {
		if p != "" && len(out) < maxArtifactPaths && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// remembered returns the memory a call reads or writes: that of its server, or of the agent its
// tool is built into. A memory is one artifact, because which notes a search finds is not known.
func (st *step) remembered(j *judged, written bool) []floodmark.ArtifactRef {
	puts, gets := j.use.Remembers(writes(j.action.Effects))
	if st.in.Artifacts == nil || written && !puts || !written && !gets {
		return nil
	}
	store := j.action.Tool.Server
	if store == "" {
		store = floodmark.Program(j.action.Tool.Agent)
	}
	return []floodmark.ArtifactRef{{Kind: floodmark.MemoryArtifact, Name: store}}
}
