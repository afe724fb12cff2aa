package lockfile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// An npmPackage is what package-lock.json says of one folder.
type npmPackage struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Resolved  string   `json:"resolved"`
	Integrity string   `json:"integrity"`
	Link      bool     `json:"link"`
	InBundle  bool     `json:"inBundle"`
	Optional  bool     `json:"optional"`
	OS        []string `json:"os"`
	CPU       []string `json:"cpu"`
	Libc      []string `json:"libc"`
}

const npmPublic = "https://registry.npmjs.org/"

// readNpm reads a package-lock.json of version 2 or 3.
func readNpm(data []byte, h Host) (List, error) {
	var lock struct {
		Version  int                   `json:"lockfileVersion"`
		Packages map[string]npmPackage `json:"packages"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return List{}, errors.New("the lock file is not what npm writes")
	}
	if lock.Version < 2 || lock.Version > 3 {
		return List{}, errors.New("the lock file is of a version of npm that is not known")
	}
	var l List
	for folder, p := range lock.Packages {
		const deps = "node_modules/"
		at := strings.LastIndex(folder, deps)
		if at < 0 || p.Link || p.InBundle || p.Optional && !p.suits(h) {
			continue // part of the project or of another package's archive, or not for this machine
		}
		name := folder[at+len(deps):]
		if p.Name != "" {
			name = p.Name
		}
		if !npmName(name) || !semantic(p.Version) || !npmHash(p.Integrity) || !p.registered(name, h.Registry) {
			l.LeftOut++
			continue
		}
		l.Packages = append(l.Packages, Package{Npm, name, p.Version, p.Integrity})
	}
	return l, nil
}

// registered reports whether the address in the lock file is the address of this package in a known
// registry. The address is only compared and never used.
func (p *npmPackage) registered(name, registry string) bool {
	for _, base := range []string{npmPublic, registry} {
		if base != "" && p.Resolved == strings.TrimSuffix(base, "/")+NpmPath(name, p.Version) {
			return true
		}
	}
	return p.Resolved == "" // npm was configured not to record it
}

// NpmPath returns the path of a package's archive in a registry.
func NpmPath(name, version string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return "/" + name + "/-/" + base + "-" + version + ".tgz"
}

// suits reports whether npm installs the package on a machine.
func (p *npmPackage) suits(h Host) bool {
	fits := func(list []string, own string) bool {
		if own == "" || len(list) == 0 || slices.Contains(list, "any") {
			return true
		}
		if slices.Contains(list, "!"+own) {
			return false
		}
		refuses := func(s string) bool { return strings.HasPrefix(s, "!") }
		return slices.Contains(list, own) || !slices.ContainsFunc(list, func(s string) bool { return !refuses(s) })
	}
	return fits(p.OS, h.OS) && fits(p.CPU, h.CPU) && fits(p.Libc, h.Libc)
}

// npmName reports whether a text is the name of a package, perhaps with a scope.
func npmName(name string) bool {
	scope, rest, scoped := strings.Cut(name, "/")
	if !scoped {
		rest = name
	}
	part := func(s string) bool { return s != "" && only(s, "-._~") && !strings.ContainsRune("._-", rune(s[0])) }
	return len(name) <= maxName && part(rest) && (!scoped || strings.HasPrefix(scope, "@") && part(scope[1:]))
}

func npmHash(h string) bool {
	const bytes = 64
	rest, ok := strings.CutPrefix(h, "sha512-")
	raw, err := base64.StdEncoding.DecodeString(rest)
	return ok && err == nil && len(raw) == bytes && base64.StdEncoding.EncodeToString(raw) == rest
}
