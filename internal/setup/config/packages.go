package config

import (
	"cmp"
	"fmt"

	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
)

// Packages says where the monitor fetches the packages that a project has pinned, for boxes that
// install them.
type Packages struct {
	// Off leaves boxes without packages. The owner is then asked about installing.
	Off bool `yaml:"off"`
	// Go, Npm and PyPI are the registries; empty for the public ones.
	Go   string `yaml:"go"`
	Npm  string `yaml:"npm"`
	PyPI string `yaml:"pypi"`
	// Hosts are further hosts to which registries may redirect the monitor.
	Hosts []string `yaml:"hosts"`
	// Private are prefixes of package names that are never looked up at a registry.
	Private []string `yaml:"private"`
}

const maxPackageHosts = 64

// Registries returns where packages come from; nil: boxes get no packages.
func (s Service) Registries() *mirrorfetch.Registries {
	r := mirrorfetch.Public()
	if p := s.Packages; p != nil {
		if p.Off {
			return nil
		}
		r.Go, r.Npm, r.PyPI = cmp.Or(p.Go, r.Go), cmp.Or(p.Npm, r.Npm), cmp.Or(p.PyPI, r.PyPI)
		r.Hosts, r.Private = append(r.Hosts, p.Hosts...), p.Private
	}
	return &r
}

func (s Service) checkPackages() error {
	if s.Packages != nil && len(s.Packages.Hosts)+len(s.Packages.Private) > maxPackageHosts {
		return fmt.Errorf("packages: name at most %d hosts and private names", maxPackageHosts)
	}
	if r := s.Registries(); r != nil {
		if err := r.Check(); err != nil {
			return fmt.Errorf("packages.%w", err)
		}
	}
	return nil
}
