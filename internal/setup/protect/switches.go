package protect

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A turn is a setting that can switch off all hooks, also ours: they stay in the file as we wrote
// them, but never run.
type turn struct {
	at []string // its path
	// off is the value that switches hooks off, true or false. If the value in the file is a list,
	// it switches off the hooks it names.
	off string
}

// on refuses a document in which our hooks are switched off. It does not overrule the person, but
// tells them the line.
func (f file) on(data []byte) error {
	if len(f.turns) == 0 {
		return nil
	}
	d, err := readDocument(data)
	if err != nil {
		return err
	}
	ours, err := f.names()
	if err != nil {
		return err
	}
	for _, t := range f.turns {
		last := len(t.at) - 1
		in := d.object
		for _, name := range t.at[:last] {
			in = objectOf(valueOf(in, name))
		}
		v := valueOf(in, t.at[last])
		if v != nil && t.turnsOff(v, ours) {
			return &wrongFile{lineAt(data, v.StartOffset), "hooks are switched off there, ours with them", "switch them on"}
		}
	}
	return nil
}

// onTOML does the same for TOML.
func (f file) onTOML(data []byte) error {
	_, all, err := readTOML(data)
	if err != nil {
		return err
	}
	for _, t := range f.turns {
		if v, is := lookup(all, t.at); is && sameTOML(v, t.off) {
			return &wrongFile{text: "hooks are switched off there by «" + strings.Join(t.at, ".") + "», ours with them", hint: "switch them on"}
		}
	}
	return nil
}

// piLoads returns an error if pi's settings keep it from loading our extension. pi leaves out what
// its list of extensions names after a - or an !.
func piLoads(folder string) error {
	file := filepath.Join(folder, "settings.json")
	data, err := wholefile.Read(file, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fileError(file, err)
	}
	if _, data = cutMark(data); len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	d, err := readDocument(data)
	if err != nil {
		return fileError(file, err)
	}
	list := arrayOf(valueOf(d.object, "extensions"))
	if list == nil {
		return nil
	}
	for _, e := range list.Elements {
		if l, is := e.Value.(hujson.Literal); is && l.Kind() == '"' && piLeavesOut(l.String()) {
			return fileError(file, &wrongFile{lineAt(data, e.StartOffset), "our extension is switched off there", "take that line out"})
		}
	}
	return nil
}

// piLeavesOut reports whether a pattern may exclude our file. It looks only at the last part of the
// pattern; a part that it cannot parse may exclude it.
func piLeavesOut(pattern string) bool {
	if !strings.HasPrefix(pattern, "-") && !strings.HasPrefix(pattern, "!") {
		return false
	}
	last := path.Base(pattern[1:])
	hit, err := path.Match(last, ownName+".ts")
	return hit || err != nil || strings.ContainsAny(last, "{(") || last == "extensions" || last == ownName
}

func (t turn) turnsOff(v *hujson.Value, ours []string) bool {
	if list := arrayOf(v); list != nil {
		return slices.ContainsFunc(list.Elements, func(e hujson.Value) bool {
			l, is := e.Value.(hujson.Literal)
			return is && l.Kind() == '"' && slices.Contains(ours, l.String())
		})
	}
	l, is := v.Value.(hujson.Literal)
	return is && string(l) == t.off
}

// names returns all strings of our fragment, because an agent may name a hook by its name or by its
// command.
func (f file) names() ([]string, error) {
	d, err := readDocument(f.text)
	if err != nil {
		return nil, err
	}
	list := []string{ownName}
	for v := range d.root.All() {
		if l, is := v.Value.(hujson.Literal); is && l.Kind() == '"' {
			list = append(list, l.String())
		}
	}
	return list, nil
}
