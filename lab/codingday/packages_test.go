package codingday

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// parts splits the path of a package's file, which is KIND/NAME@VERSION/FILE. NAME may contain
// slashes.
func parts(name, kind string) (pkg, version, file string) {
	rest := strings.TrimPrefix(name, kind+"/")
	pkg, rest, _ = strings.Cut(rest[1:], "@") // a name may begin with @
	version, file, _ = strings.Cut(rest, "/")
	return strings.TrimPrefix(name, kind+"/")[:1] + pkg, version, file
}

// npm serves the registry: the metadata of a package, or its archive.
func (w *world) npm(rw http.ResponseWriter, r *http.Request) {
	want := strings.TrimPrefix(strings.ReplaceAll(r.URL.Path, "%2f", "/"), "/")
	if pkg, archive, ok := strings.Cut(want, "/-/"); ok {
		version := strings.TrimSuffix(archive[strings.LastIndex(archive, "@")+1:], ".tgz")
		_, _ = rw.Write(w.npmArchive(pkg, version)) // fails only if the client is gone
		return
	}
	versions := map[string]any{}
	latest := ""
	for _, name := range w.below("npm/") {
		pkg, version, file := parts(name, "npm")
		if pkg != want || file != "package.json" {
			continue
		}
		var about map[string]any
		if err := json.Unmarshal([]byte(w.files[name]), &about); err != nil {
			w.t.Errorf("%s: %v", name, err)
		}
		sum := sha512.Sum512(w.npmArchive(pkg, version))
		about["dist"] = map[string]string{
			"tarball":   "https://npm.example/" + pkg + "/-/p@" + version + ".tgz",
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		versions[version], latest = about, version
	}
	if latest == "" {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{"name": want, "dist-tags": map[string]string{"latest": latest}, "versions": versions, "description": versions[latest].(map[string]any)["description"]})
}

// npmArchive packs the files of one version.
func (w *world) npmArchive(pkg, version string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, name := range w.below("npm/" + pkg + "@" + version + "/") {
		_, _, file := parts(name, "npm")
		text := w.files[name]
		_ = t.WriteHeader(&tar.Header{Name: "package/" + file, Mode: 0o644, Size: int64(len(text))})
		_, _ = t.Write([]byte(text))
	}
	_ = t.Close()
	_ = z.Close()
	return b.Bytes()
}

// packages writes what package managers read from the disk: modules of Go, and
// wheels of Python.
func (w *world) packages() {
	modules, wheels := map[string][]string{}, map[string][]string{}
	for _, name := range w.below("go/") {
		module, version, _ := parts(name, "go")
		modules[module+"@"+version] = append(modules[module+"@"+version], name)
	}
	for _, name := range w.below("pip/") {
		pkg, version, _ := parts(name, "pip")
		wheels[pkg+"@"+version] = append(wheels[pkg+"@"+version], name)
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		module, version, _ := strings.Cut(id, "@")
		folder := filepath.Join(w.root, "srv", "goproxy", module, "@v")
		gomod := w.files["go/"+id+"/go.mod"]
		w.write(filepath.Join(folder, version+".mod"), gomod, 0o644)
		w.write(filepath.Join(folder, version+".info"), fmt.Sprintf(`{"Version":%q,"Time":"2026-11-01T09:00:00Z"}`, version), 0o644)
		w.write(filepath.Join(folder, version+".zip"), w.zipped(modules[id], func(file string) string { return id + "/" + file }, "go"), 0o644)
		list, _ := os.ReadFile(filepath.Join(folder, "list")) // there is none at first
		w.write(filepath.Join(folder, "list"), string(list)+version+"\n", 0o644)
	}
	for _, id := range slices.Sorted(maps.Keys(wheels)) {
		pkg, version, _ := strings.Cut(id, "@")
		w.wheel(pkg, version, wheels[id])
	}
}

// wheel writes a package of Python and the page that lists it.
func (w *world) wheel(pkg, version string, names []string) {
	info := pkg + "-" + version + ".dist-info/"
	w.files["pip/"+pkg+"@"+version+"/"+info+"METADATA"] = "Metadata-Version: 2.1\nName: " + pkg + "\nVersion: " + version + "\n"
	w.files["pip/"+pkg+"@"+version+"/"+info+"WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
	record := ""
	for _, name := range append(names, "pip/"+pkg+"@"+version+"/"+info+"METADATA", "pip/"+pkg+"@"+version+"/"+info+"WHEEL") {
		_, _, file := parts(name, "pip")
		record += file + ",,\n"
	}
	w.files["pip/"+pkg+"@"+version+"/"+info+"RECORD"] = record + info + "RECORD,,\n"
	file := pkg + "-" + version + "-py3-none-any.whl"
	folder := filepath.Join(w.root, "srv", "pip", "simple", pkg)
	w.write(filepath.Join(folder, file), w.zipped(w.below("pip/"+pkg+"@"+version+"/"), func(file string) string { return file }, "pip"), 0o644)
	page, _ := os.ReadFile(filepath.Join(folder, "index.html")) // there is none at first
	w.write(filepath.Join(folder, "index.html"), string(page)+`<a href="`+file+`">`+file+"</a>\n", 0o644)
}

func (w *world) zipped(names []string, as func(string) string, kind string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		_, _, file := parts(name, kind)
		f, err := z.Create(as(file))
		if err != nil {
			w.t.Fatal(err)
		}
		_, _ = f.Write([]byte(w.files[name]))
	}
	if err := z.Close(); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}
