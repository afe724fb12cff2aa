package protect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// errNoSystem means that an agent has no settings for the whole machine.
var errNoSystem = errors.New("it has no settings for the whole machine")

// A FileError says which settings file has to be corrected before anything can be done.
type FileError struct {
	Path string
	Line int // 0 if no single line is at fault
	Text string
	Hint string // what the person can do
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Text)
	}
	return e.Path + ": " + e.Text
}

func fileError(path string, err error) error {
	if err == nil {
		return nil
	}
	if w, is := errors.AsType[*wrongFile](err); is {
		return &FileError{path, w.line, w.text, w.hint}
	}
	if at, is := errors.AsType[*fs.PathError](err); is {
		err = at.Err
	}
	return &FileError{Path: path, Text: err.Error(), Hint: "check the file"}
}

// A Change is one file that a plan would write, create or remove.
type Change struct {
	Agent string
	// Path is the file as the agent names it.
	Path string
	// Before and After are its contents. Made means that the file does not exist before the change.
	// Gone means that it does not exist after it.
	Before, After []byte
	Made, Gone    bool
	// Note says what people should know about it.
	Note string

	target string // the file that the links lead to
	mode   fs.FileMode
	rescue bool // keep a copy of the file that is removed
}

func (c Change) before() content { return content{!c.Made, c.Before} }

// A Plan is what would change. Making it changes nothing.
type Plan struct {
	// Agents are the agents it is about.
	Agents  []Found
	Changes []Change
	// Notes are sentences for the person.
	Notes []string
	// Uncovered are tool servers that are not reached through the gateway.
	Uncovered []Uncovered

	machine Machine
	undo    bool     // disconnect the agents
	back    bool     // take the gateway out again, keep the hooks
	looked  []string // the files that were read
	records []*record
	// step is called before each write, for tests.
	step func(what string)
}

// Protect plans to connect the named agents, or all on this machine if none is named.
func (m Machine) Protect(ctx context.Context, names ...string) (*Plan, error) {
	p := &Plan{machine: m, step: func(string) {}}
	if !filepath.IsAbs(m.Hook) {
		return nil, errors.New("the place of floodmark-hook is not known")
	}
	list, err := m.chosen(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if err := p.protect(ctx, c.kind, c.found); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Unprotect plans to disconnect the named agents, or all if none is named.
func (m Machine) Unprotect(ctx context.Context, names ...string) (*Plan, error) {
	p := &Plan{machine: m, undo: true, step: func(string) {}}
	for _, k := range allKinds() {
		if len(names) > 0 && !slices.Contains(names, k.Name) {
			continue
		}
		if err := p.unprotect(k, len(names) > 0); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if _, err := anyOf(name); err != nil {
			return nil, err
		}
	}
	return p, nil
}

type chosen struct {
	kind  kind
	found Found
}

func (m Machine) chosen(ctx context.Context, names []string) (list []chosen, err error) {
	for _, name := range names {
		k, err := kindOf(name)
		if err != nil {
			return nil, err
		}
		if _, err := k.settings(m); err != nil {
			return nil, fmt.Errorf("%s: %w", k.Title, err)
		}
		f, there := m.find(ctx, k)
		if !there && !m.System {
			return nil, fmt.Errorf("%s is not on this machine: there is no program %q on PATH and no folder %s", k.Title, k.programs[0], f.Folder)
		}
		list = append(list, chosen{k, f})
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, k := range kinds() {
		if f, there := m.find(ctx, k); there {
			list = append(list, chosen{k, f})
		}
	}
	return list, nil
}

// protect plans the changes to the files of one agent.
func (p *Plan) protect(ctx context.Context, k kind, f Found) error {
	files, err := k.files(p.machine)
	if err != nil {
		return fmt.Errorf("%s: %w", k.Title, err)
	}
	rec, err := p.machine.record(k.Name)
	if err != nil {
		return err
	}
	if err := k.loadable(p.machine); err != nil {
		return err
	}
	rec.Version, rec.OnlyServers = f.Version, false
	p.Agents = append(p.Agents, f)
	already := len(p.Changes)
	var done []content
	for _, one := range files {
		if k.trust && one.sort == tomlPart && !p.machine.System {
			if err := p.trust(ctx, rec, f, &one, files[0].path, done[0]); err != nil {
				return err
			}
		}
		fresh, err := p.put(rec, k, one, one.with)
		if err != nil {
			return err
		}
		done = append(done, fresh)
	}
	if len(p.Changes) > already {
		p.records = append(p.records, rec)
	}
	return nil
}

// put plans the change of one file after which ours is in it.
func (p *Plan) put(rec *record, k kind, one file, with func(content) (content, error)) (content, error) {
	c, now, err := p.read(k, one)
	if err != nil {
		return now, err
	}
	fresh, err := with(now)
	if err != nil {
		return now, fileError(one.path, err)
	}
	was := rec.of(one.path)
	if fresh.same(now) {
		return fresh, nil // no change is needed
	}
	if len(fresh.data) > maxSettings {
		return now, fileError(one.path, &wrongFile{text: fmt.Sprintf("it would be larger than %d bytes", maxSettings), hint: "make it smaller"})
	}
	// The original is what we kept, if the file was not changed since. Else it is the present
	// content without ours.
	var original content
	if was != nil && was.asLeft(now) {
		original = was.original()
	} else if original, err = one.without(now, was.before()); err != nil {
		return now, fileError(one.path, err)
	}
	if was == nil {
		rec.Files = append(rec.Files, kept{Path: one.path})
		was = rec.of(one.path)
	}
	was.There, was.Data = original.there, original.data
	was.Left = []string{digest(now), digest(fresh)}
	if original.same(now) {
		was.Left = was.Left[1:]
	}
	if err := mayWrite(c.target, c.mode, now.there); err != nil {
		return now, fileError(one.path, err)
	}
	c.After = fresh.data
	p.folders(rec, filepath.Dir(c.target))
	p.Changes = append(p.Changes, c)
	return fresh, nil
}

// read reads a file and begins its change.
func (p *Plan) read(k kind, one file) (Change, content, error) {
	target, err := behind(one.path)
	if err != nil {
		return Change{}, content{}, fileError(one.path, err)
	}
	now, mode, err := readContent(target)
	if err != nil {
		return Change{}, content{}, fileError(one.path, err)
	}
	p.looked = append(p.looked, one.path)
	if !now.there {
		mode = 0o600
		if p.machine.System {
			mode = 0o644
		}
	}
	return Change{Agent: k.Name, Path: one.path, Before: now.data, Made: !now.there, target: target, mode: mode}, now, nil
}

// folders records the folders that have to be made.
func (p *Plan) folders(rec *record, dir string) {
	var list []string
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		list = append(list, dir)
	}
	for _, one := range slices.Backward(list) {
		if !slices.Contains(rec.Folders, one) {
			rec.Folders = append(rec.Folders, one)
		}
	}
}

// trust finds the hashes that Codex needs to trust our hooks.
func (p *Plan) trust(ctx context.Context, rec *record, f Found, one *file, hooksFile string, hooks content) error {
	list, err := codexHooks(hooks.data)
	if err != nil {
		return fileError(hooksFile, err)
	}
	if f.Program != "" {
		asked, err := askCodex(ctx, p.machine, f.Program, hooks.data)
		switch {
		case err != nil || len(asked) != len(list):
			p.Notes = append(p.Notes, "Codex did not say by which marks it knows our hooks, so ours were worked out. Start codex once: if it asks whether to trust hooks, say yes; until then it skips them silently.")
		default:
			list = asked
		}
	}
	rec.Trust = list
	one.trust = trustWants(filepath.Join(codexHome(p.machine, filepath.Dir(hooksFile)), filepath.Base(hooksFile)), list)
	return nil
}

// unprotect plans to restore the files of one agent.
func (p *Plan) unprotect(k kind, named bool) error {
	files, err := k.files(p.machine)
	if err != nil && !named {
		return nil // its folder is unknown on this machine, so nothing of ours is there
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k.Title, err)
	}
	rec, err := p.machine.record(k.Name)
	if err != nil {
		return err
	}
	servers, err := k.serverFiles(p.machine, rec)
	if err != nil {
		return fmt.Errorf("%s: %w", k.Title, err)
	}
	if len(rec.Files) == 0 && len(rec.Folders) == 0 {
		rec.Agent = "" // there is no record to remove
	}
	seen := len(p.Changes)
	for _, one := range recorded(files, servers, rec) {
		if err := p.takeOut(rec, k, one); err != nil {
			return err
		}
	}
	if rec.Agent != "" || len(p.Changes) > seen {
		p.Agents, p.records = append(p.Agents, Found{Agent: k.Agent}), append(p.records, rec)
	}
	return nil
}

// recorded returns all files of an agent: its present ones, and those that were changed when its
// settings were elsewhere.
func recorded(hooks, servers []file, rec *record) []file {
	list := slices.Clone(hooks)
	for _, f := range servers {
		if !slices.ContainsFunc(list, func(g file) bool { return g.path == f.path }) {
			list = append(list, f)
		}
	}
	for _, was := range rec.Files {
		at := slices.IndexFunc(list, func(f file) bool { return f.path == was.Path })
		if at >= 0 && list[at].sort != serversPart {
			continue
		}
		for _, f := range hooks {
			if rec.hooked() && filepath.Base(f.path) == filepath.Base(was.Path) {
				f.path = was.Path
				if at >= 0 {
					f.servers = list[at].servers
					list = slices.Delete(list, at, at+1)
				}
				list = append(list, f)
				break
			}
		}
	}
	return list
}

// takeOut plans the change of one file after which nothing of ours is in it.
func (p *Plan) takeOut(rec *record, k kind, one file) error {
	was := rec.of(one.path)
	if was == nil && p.unread(one) {
		return nil
	}
	c, now, err := p.read(k, one)
	if err != nil {
		return err
	}
	var fresh content
	switch {
	case was != nil && (was.asLeft(now) || was.original().same(now)):
		fresh = was.original()
	default:
		if fresh, err = one.without(now, was.before()); err != nil {
			return fileError(one.path, err)
		}
		if was != nil && !fresh.same(now) {
			c.Note = "it was edited since it was protected: only what is ours is taken out"
		}
		if one.sort == whole && now.there && !fresh.there && string(now.data) != string(one.text) {
			c.Note, c.rescue = "it is not as we wrote it: a copy is kept", true
		}
	}
	if fresh.same(now) {
		return nil
	}
	if err := mayWrite(c.target, c.mode, now.there); err != nil {
		return fileError(one.path, err)
	}
	c.After, c.Gone = fresh.data, !fresh.there
	p.Changes = append(p.Changes, c)
	return nil
}
