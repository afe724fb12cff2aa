package mirrorfetch

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

const (
	// manifestPath begins the paths of manifests in the mirror. No package of npm has a name that
	// begins with it.
	manifestPath = "/_npm"
	maxManifest  = 1 << 20
	maxUnpacked  = 1 << 30
	jsonKind     = "application/json"
)

// archive fetches a package of npm, and stores its manifest.
func (f *Fetcher) archive(ctx context.Context, p lockfile.Package) ([]mirror.Item, error) {
	at := lockfile.NpmPath(p.Name, p.Version)
	var says []byte
	i, err := f.file(ctx, strings.TrimSuffix(f.From.Npm, "/")+at, at, "application/octet-stream", func(file *os.File, _ string) error {
		h := sha512.New()
		if _, err := io.Copy(h, file); err != nil {
			return err
		}
		if "sha512-"+base64.StdEncoding.EncodeToString(h.Sum(nil)) != p.Hash {
			return errHash
		}
		_, err := file.Seek(0, io.SeekStart)
		says = manifest(file, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	m, err := f.Store.Put(manifestPath+at, jsonKind, says)
	return []mirror.Item{i, m}, err
}

// manifest returns the entry of a package version in npm's index: its pinned name, version and
// hash, and the fields that npm needs from the archive's package.json.
func manifest(file io.Reader, p lockfile.Package) []byte {
	m := map[string]json.RawMessage{}
	var own map[string]json.RawMessage
	if json.Unmarshal(packageJSON(file), &own) == nil {
		for _, field := range []string{
			"dependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bundleDependencies", "bundledDependencies", "bin", "engines", "os", "cpu", "libc",
		} {
			if v, has := own[field]; has {
				m[field] = v
			}
		}
		var scripts map[string]string
		if json.Unmarshal(own["scripts"], &scripts) == nil && scripts["preinstall"]+scripts["install"]+scripts["postinstall"] != "" {
			m["hasInstallScript"] = json.RawMessage("true")
		}
	}
	m["name"], m["version"] = quoted(p.Name), quoted(p.Version)
	m["dist"], _ = json.Marshal(map[string]string{ // strings always encode
		// npm replaces this public host by its configured registry, and writes this address to its
		// lock file.
		"tarball": "https://registry.npmjs.org" + lockfile.NpmPath(p.Name, p.Version), "integrity": p.Hash,
	})
	data, _ := json.Marshal(m) // values that were decoded can be encoded
	return data
}

func quoted(text string) json.RawMessage {
	data, _ := json.Marshal(text) // a string always encodes
	return data
}

// packageJSON returns the first package.json in the top folder of an archive, or nil if there is
// none that is short enough.
func packageJSON(file io.Reader) []byte {
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil
	}
	t := tar.NewReader(io.LimitReader(z, maxUnpacked))
	for {
		h, err := t.Next()
		if err != nil {
			return nil
		}
		if dir, name := path.Split(h.Name); name != "package.json" || strings.Count(dir, "/") != 1 || h.Size > maxManifest {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(t, maxManifest))
		if err != nil {
			return nil
		}
		return data
	}
}

// packument makes npm's index of a package, with the pinned versions only.
func (f *Fetcher) packument(all []piece, items [][]mirror.Item) (mirror.Item, error) {
	name, versions, latest := all[0][0].Name, map[string]json.RawMessage{}, ""
	for n, p := range all {
		at := slices.IndexFunc(items[n], func(i mirror.Item) bool { return strings.HasPrefix(i.Path, manifestPath+"/") })
		if at < 0 {
			return mirror.Item{}, errors.New("a package does not say what it is")
		}
		says, err := f.Store.Read(items[n][at])
		if err != nil {
			return mirror.Item{}, err
		}
		versions[p[0].Version] = says
		if latest == "" || semver.Compare("v"+p[0].Version, "v"+latest) > 0 {
			latest = p[0].Version
		}
	}
	data, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": latest}, "versions": versions})
	if err != nil {
		return mirror.Item{}, err
	}
	return f.Store.Put("/"+name, jsonKind, data)
}
