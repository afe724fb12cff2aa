package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/catalog"
)

// Guarded is [Reader.Guarded] for a caller that reads rules once.
func (p Paths) Guarded() (*catalog.File, error) { return NewReader().Guarded(p) }

// Guarded returns an addition to the catalog with the files of this installation: a call that
// touches one of them touches the monitor. The shipped catalog has the default places. Added are
// the program's own files, the files of Paths, and agents' settings that environment variables or
// records place elsewhere.
func (r *Reader) Guarded(p Paths) (*catalog.File, error) {
	shipped, err := r.Shipped()
	if err != nil {
		return nil, err
	}
	lists := shipped.Moved(os.Getenv)
	globs := lists["selfProtected"]
	add := func(place, below string) error {
		more, err := places(place, below)
		globs = append(globs, more...)
		return err
	}
	// Files are listed one by one, because the folder around them may also contain unrelated files,
	// for example next to a policy file that the owner named.
	for place, below := range map[string]string{
		p.Policy: "", p.Service: "", p.Gateway: "", p.Journal: "*", p.Tokens: "*", p.Running: "", p.Cards: "*", p.Proofs: "", p.Pins: "*", p.Logins: "*", p.Fleets: "*", p.Fleet: "*", p.FleetBundle: "*", p.Checked: "", p.HookSocket: "", p.OwnerSocket: "",
		p.Keys: "/**", p.Bundles: "/**", p.Witness: "/**", p.Originals: "/**", p.Versions: "/**",
	} {
		if err := add(place, below); err != nil {
			return nil, err
		}
	}
	// Files at their usual places are left out, so that the rules stay the same.
	elsewhere := slices.DeleteFunc(connected(p.Originals), func(file string) bool {
		_, known, _ := shipped.Guards(file, false, catalog.Places{Home: p.Home})
		return known
	})
	for _, file := range append(programs(os.Executable), elsewhere...) {
		if err := add(file, ""); err != nil {
			return nil, err
		}
	}
	slices.Sort(globs) // the same places must give the same catalog
	lists["selfProtected"] = slices.Compact(globs)
	if lists["passes"], err = p.passes(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"paths": lists})
	if err != nil {
		return nil, err
	}
	return catalog.Parse("this installation", text)
}

// passes returns the files with credentials for the monitor and for fleets.
func (p Paths) passes() (globs []string, err error) {
	for _, one := range [][2]string{{p.Fleets, ""}, {p.Fleets, "*"}, {p.Fleet, ""}, {p.Fleet, "*"}, {p.Logins, ""}, {p.Logins, "*"}, {p.Keys, "/**"}} {
		more, err := places(one[0], one[1])
		if err != nil {
			return nil, err
		}
		globs = append(globs, more...)
	}
	slices.Sort(globs)
	return slices.Compact(globs), nil
}

// places returns a path as it is, and as its links resolve if that differs.
func places(place, below string) ([]string, error) {
	full, err := filepath.Abs(place)
	if err != nil {
		return nil, fmt.Errorf("guard %s: %w", place, err)
	}
	if behind := followed(full); behind != full {
		return []string{full + below, behind + below}, nil
	}
	return []string{full + below}, nil
}

// programs returns this program and the programs installed beside it. If Floodmark is embedded in
// another program, it returns only that program.
func programs(executable func() (string, error)) []string {
	self, err := executable()
	if err != nil {
		return nil // then only the default places are known
	}
	if !strings.HasPrefix(filepath.Base(self), "floodmark") {
		return []string{self}
	}
	dir := filepath.Dir(self)
	return []string{self, filepath.Join(dir, "floodmark"), filepath.Join(dir, "floodmark-hook"), filepath.Join(dir, "floodmark-box")}
}

// The limits on the records of changed agent settings.
const (
	maxRecord  = 64 << 20 // bytes of one; it contains original files
	maxRecords = 64
)

// connected returns the settings files that connect agents to the monitor, from the records of
// «floodmark protect». A record that cannot be read adds no files; the default places are guarded
// all the same.
func connected(records string) []string {
	names, err := filepath.Glob(filepath.Join(records, "*.json"))
	if err != nil {
		return nil
	}
	var files []string
	for _, name := range names[:min(len(names), maxRecords)] {
		var record struct {
			Files []struct {
				Path string `json:"path"`
			} `json:"files"`
		}
		data, err := readFile(name, maxRecord)
		if err != nil || json.Unmarshal(data, &record) != nil {
			continue
		}
		for _, f := range record.Files {
			if filepath.IsAbs(f.Path) && !strings.ContainsAny(f.Path, "*?") {
				files = append(files, f.Path)
			}
		}
	}
	return files
}

// followed resolves the links in a full path, as far as the path exists.
func followed(full string) string {
	there, err := filepath.EvalSymlinks(full)
	if up := filepath.Dir(full); err != nil && up != full {
		return filepath.Join(followed(up), filepath.Base(full))
	}
	if err != nil {
		return full
	}
	return there
}
