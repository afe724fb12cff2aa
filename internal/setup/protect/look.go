package protect

import (
	"path/filepath"
	"slices"
	"strings"
)

// look fills in whether an agent is connected, from its files as they are.
func (m Machine) look(k kind, f *Found) {
	files, err := k.files(m)
	rec := &record{}
	if err == nil {
		rec, err = m.record(k.Name)
	}
	if err == nil {
		err = k.loadable(m)
	}
	if err != nil {
		f.State, f.Why = Unreadable, err.Error()
		return
	}
	f.Protected = rec.Version
	whole, some := true, rec.hooked()
	var hooks content
	for i, one := range files {
		now, err := m.current(one)
		if err == nil && i == 0 {
			hooks = now
		}
		if err == nil && k.trust && one.sort == tomlPart && !m.System {
			one.trust, err = m.knownTrust(rec, files[0].path, hooks)
		}
		var fresh, bare content
		if err == nil {
			fresh, err = one.with(now)
		}
		if err == nil {
			bare, err = one.unhooked(now, nil)
		}
		if err != nil {
			f.State, f.Why = Unreadable, fileError(one.path, err).Error()
			return
		}
		if whole && !fresh.same(now) {
			whole, f.Why = false, m.missing(k, one, now)
		}
		some = some || !bare.same(now)
		if one.sort == jsonPart {
			words, _ := calls(now.data) // it was read above
			f.Hooks = append(f.Hooks, words...)
		}
	}
	slices.Sort(f.Hooks)
	f.Hooks = slices.Compact(f.Hooks)
	switch {
	case whole:
		f.State = Protected
	case some:
		f.State = Changed
	default:
		f.State, f.Why = Open, ""
	}
}

func (m Machine) current(one file) (content, error) {
	target, err := behind(one.path)
	if err != nil {
		return content{}, err
	}
	now, _, err := readContent(target)
	return now, err
}

// missing says how a file differs from what we would write.
func (m Machine) missing(k kind, one file, now content) string {
	if !now.there {
		return one.path + " is gone"
	}
	if len(one.trust) > 0 && !trusts(now.data, one.trust) {
		return k.Title + " does not trust our hooks, so it skips them without a word"
	}
	return one.path + " is not as we would write it"
}

// knownTrust returns the lines that trust the hooks as they are now. Where Codex was asked for a
// hash, the line has Codex's answer, else the hash that we compute.
func (m Machine) knownTrust(rec *record, hooksFile string, hooks content) ([]tomlWant, error) {
	if !hooks.there {
		return nil, nil
	}
	list, err := codexHooks(hooks.data)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		for _, told := range rec.Trust {
			if event(told.Place) == event(t.Place) {
				list[i].Hash = told.Hash // the hash does not depend on the place
			}
		}
	}
	return trustWants(filepath.Join(codexHome(m, filepath.Dir(hooksFile)), filepath.Base(hooksFile)), list), nil
}

func event(place string) string {
	name, _, _ := strings.Cut(place, ":")
	return name
}
