package artifact

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

// A Call is one call as far as artifacts are concerned.
type Call struct {
	ID               floodmark.CallID
	Tool             floodmark.ToolRef
	Use              *catalog.Use
	Leaves           []hook.Leaf
	Effects          []floodmark.Effect
	Network          bool // it may reach hosts
	Contained, Boxed bool // it is let through into a box, or would run in one
}

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
func (b *Book) touched(call Call) touch {
	if b.Store == nil && b.Disk == nil || call.Use.Profile == nil {
		return touch{}
	}
	t := b.touchedByTool(call)
	if call.Use.Commands() {
		t = b.touchedByCommand(call)
	}
	t.reads, t.writes, t.loads = b.resolved(t.reads), b.resolved(t.writes), b.resolved(t.loads)
	t.sure, t.hooks = b.resolved(t.sure), b.resolved(t.hooks)
	return t
}

// touchedByTool finds out which files the arguments of a call name.
func (b *Book) touchedByTool(call Call) touch {
	var t touch
	paths, contents, odd := []string(nil), 0, false
	for _, leaf := range call.Leaves {
		if leaf.Kind != hook.String || leaf.Value == "" {
			continue
		}
		switch a := call.Use.Arg(leaf.Top); {
		case a.Is == catalog.IsPath:
			paths = append(paths, b.named(leaf.Value)...)
			odd = odd || filenames.Odd(leaf.Value, b.At.Clean(leaf.Value, ""), catalog.FoldPath(leaf.Value))
		case a.Is == catalog.IsPatch:
			for _, name := range filenames.OfPatch(leaf.Value) {
				paths = append(paths, b.named(name)...)
			}
		case a.Role == floodmark.Content:
			contents++
			t.whole, t.digest = a.Is == catalog.IsFile, floodmark.DigestOf(leaf.Value)
		}
	}
	if len(paths) == 0 && call.Use.ByPath && call.Use.Place != "" {
		paths = []string{call.Use.Place}
	}
	paths = unique(paths)
	t.whole = t.whole && !odd && contents == 1 && len(paths) == 1
	if writes(call.Effects) {
		t.writes = paths
	} else {
		t.reads, t.whole = paths, false
	}
	return t
}

// named returns the clean paths that an agent may open for a path in a call.
func (b *Book) named(name string) []string {
	return b.cleaned(append([]string{name}, filenames.Respelled(name)...), "")
}

// touchedByCommand finds out which files a command line touches: those the
// catalog knows of, or else every word that could be one.
func (b *Book) touchedByCommand(call Call) touch {
	base, u := b.At.Project, call.Use
	var lines []string
	for _, leaf := range call.Leaves {
		if leaf.Kind != hook.String || leaf.Value == "" || leaf.Top == floodmark.CommandAddress {
			continue
		}
		switch a := u.Arg(leaf.Top); a.Is {
		case catalog.IsPath:
			base = b.At.Clean(leaf.Value, "")
		case catalog.IsCommand:
			lines = append(lines, leaf.Value)
		}
	}
	t := touch{reads: slices.Concat(u.Reads, u.Loads), writes: u.Writes, loads: u.Loads}
	known := len(t.reads)+len(t.writes)+len(u.Hooks) > 0 && !u.Opaque
	runs := slices.Contains(call.Effects, floodmark.Run)
	if runs {
		t.runs = base
	}
	if !known {
		t.guessed = true
		named := b.mentioned(lines, base)
		t.reads = append(t.reads, named...)
		if runs || writes(call.Effects) {
			t.writes = append(slices.Clip(t.writes), named...)
		}
		if runs {
			t.loads = append(slices.Clip(t.loads), named...)
			if base != "" {
				t.loads = append(t.loads, base+"/**")
			}
		}
	}
	t.reads, t.writes, t.loads = b.cleaned(t.reads, base), b.cleaned(t.writes, base), b.cleaned(t.loads, base)
	t.sure, t.hooks = b.cleaned(u.Loads, base), b.cleaned(u.Hooks, base)
	return t
}

// cleaned returns the paths of a command line as seen from the folder it runs in.
func (b *Book) cleaned(paths []string, base string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = b.At.Clean(p, base)
	}
	return unique(out)
}

// mentioned returns the words of command lines that could be paths.
func (b *Book) mentioned(lines []string, base string) []string {
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
			if p := b.At.Clean(w, base); path.IsAbs(p) && !slices.Contains(list, p) {
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
func (b *Book) remembered(call Call, written bool) []floodmark.ArtifactRef {
	puts, gets := call.Use.Remembers(writes(call.Effects))
	if b.Store == nil || written && !puts || !written && !gets {
		return nil
	}
	store := call.Tool.Server
	if store == "" {
		store = floodmark.Program(call.Tool.Agent)
	}
	return []floodmark.ArtifactRef{{Kind: floodmark.MemoryArtifact, Name: store}}
}

// Inside reports whether a call is admin only by the files it writes, and these are all in the
// project. The project must be a checkout below home where nothing starts by itself: home, folders
// with a dot, and those with programs or start files may contain what starts shells.
func (b *Book) Inside(call Call) bool {
	disk := b.Disk
	if !call.Use.Instructs && len(call.Use.Placed) == 0 || call.Use.Opaque || call.Use.Profile == nil || disk == nil {
		return false
	}
	project, home := disk.Resolve(strings.TrimRight(b.At.Project, "/")), disk.Resolve(strings.TrimRight(b.At.Home, "/"))
	c, known := disk.Around(project)
	root, inHome := strings.CutPrefix(catalog.FoldPath(disk.Resolve(c.Root)), catalog.FoldPath(home)+"/")
	starts, protected, placed := b.Catalog.Guards(project, true, catalog.Places{Home: home})
	if !known || project == "" || home == "" || !inHome || root == "" || strings.Contains(catalog.FoldPath(project), "/.") || starts || protected || slices.Contains(placed, floodmark.Admin) {
		return false
	}
	t := b.touched(call)
	return !t.guessed && len(t.writes) > 0 && len(t.writes) < maxArtifactPaths && !slices.ContainsFunc(t.writes, func(p string) bool { return !Under(p, project) })
}

// Tidies reports whether a command deletes nothing but what this session wrote.
func (b *Book) Tidies(use *catalog.Use) bool {
	return use.Tidies && !slices.ContainsFunc(b.resolved(use.Removes), func(p string) bool {
		return len(b.ours(fileRef(p))) == 0
	})
}

// Behind lets the use of a call follow the links through which it writes. The catalog knows names
// only, and a link that was planted in a checkout may lead from a harmless name to the settings of
// an agent.
func (b *Book) Behind(call Call) {
	if b.Disk == nil || call.Use.Profile == nil || call.Use.SelfProtected || !writes(call.Effects) && !call.Use.Commands() {
		return
	}
	t, at := b.touchedByTool(call), b.At
	if at.Project != "" {
		at.Project = b.Disk.Resolve(at.Project)
	}
	if call.Use.Commands() {
		t = b.touchedByCommand(call)
	}
	for _, p := range t.writes {
		name, tree := strings.CutSuffix(p, "/**")
		there := b.resolved([]string{name})[0]
		if there == name {
			continue
		}
		instructs, protected, placed := b.Catalog.Guards(there, tree, at)
		call.Use.Placed = slices.Concat(call.Use.Placed, placed)
		if protected {
			call.Use.SelfProtected, call.Use.Instructs = true, false
		} else if instructs && !slices.Contains(call.Use.Effects, floodmark.Admin) {
			call.Use.Instructs = true
		}
	}
	if (call.Use.SelfProtected || call.Use.Instructs) && !slices.Contains(call.Use.Effects, floodmark.Admin) {
		call.Use.Effects = append(slices.Clip(call.Use.Effects), floodmark.Admin)
	}
	call.Use.Placed = slices.DeleteFunc(call.Use.Placed, func(e floodmark.Effect) bool { return slices.Contains(call.Use.Effects, e) })
}
