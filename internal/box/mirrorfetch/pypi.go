package mirrorfetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

const (
	pypiPath = "/_pypi/simple/"
	pypiJSON = "application/vnd.pypi.simple.v1+json"
)

// A wheel is a file's entry in an index. It can also be a source archive.
type wheel struct {
	Filename string            `json:"filename"`
	URL      string            `json:"url"`
	Hashes   map[string]string `json:"hashes"`
}

// wheels fetches the pinned files of one version that can be installed on this machine.
func (f *Fetcher) wheels(ctx context.Context, p piece) (items []mirror.Item, err error) {
	base := strings.TrimSuffix(f.From.PyPI, "/") + "/" + p[0].Name + "/"
	files, err := f.index(ctx, base)
	if err != nil {
		return nil, err
	}
	for _, w := range f.useful(files, p) {
		from, err := url.Parse(base)
		if err != nil {
			return nil, err
		}
		if from, err = from.Parse(w.URL); err != nil {
			return nil, errElsewhere
		}
		from.Fragment = ""
		i, err := f.file(ctx, from.String(), pypiPath+p[0].Name+"/"+w.Filename, "application/octet-stream", func(_ *os.File, sum string) error {
			if sum != w.Hashes["sha256"] {
				return errHash
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	if len(items) == 0 {
		return nil, errors.New("the registry has none of the files that the lock file pins for this machine")
	}
	return items, nil
}

func (f *Fetcher) index(ctx context.Context, base string) ([]wheel, error) {
	data, err := f.web.text(ctx, base, pypiJSON, maxIndex)
	if err != nil {
		return nil, err
	}
	var index struct {
		Files []wheel `json:"files"`
	}
	if json.Unmarshal(data, &index) != nil {
		return nil, errors.New("the registry's answer is no index")
	}
	return index.Files, nil
}

// useful returns the pinned files that can be installed on this machine, sorted by name: the
// wheels, or the source archives if there are none.
func (f *Fetcher) useful(files []wheel, p piece) []wheel {
	var wheels, sources []wheel
	for _, w := range files {
		pinned := slices.ContainsFunc(p, func(one lockfile.Package) bool { return one.Hash == "sha256:"+w.Hashes["sha256"] })
		switch {
		case !pinned || !plainFile(w.Filename):
		case !strings.HasSuffix(w.Filename, ".whl"):
			sources = append(sources, w)
		case f.runs(w.Filename):
			wheels = append(wheels, w)
		}
	}
	if len(wheels) == 0 {
		wheels = sources
	}
	slices.SortFunc(wheels, func(a, b wheel) int { return strings.Compare(a.Filename, b.Filename) })
	return slices.CompactFunc(wheels, func(a, b wheel) bool { return a.Filename == b.Filename })
}

// runs reports whether a wheel is for any machine, or for Linux on this architecture.
func (f *Fetcher) runs(name string) bool {
	stem := strings.TrimSuffix(name, ".whl")
	tag := stem[strings.LastIndexByte(stem, '-')+1:]
	return tag == "any" || strings.Contains(tag, "linux") && !strings.HasPrefix(tag, "musl") && strings.HasSuffix(tag, "_"+f.Machine)
}

// plainFile reports whether a file name is one that an index may have.
func plainFile(name string) bool {
	const most = 255
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') && !strings.ContainsRune("-._+!", r)
	}
	ending := slices.ContainsFunc([]string{".whl", ".tar.gz", ".zip"}, func(e string) bool { return strings.HasSuffix(name, e) })
	return ending && len(name) <= most && !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, odd)
}

// page makes the HTML index of a package, which all installers can read.
func (f *Fetcher) page(name string, items [][]mirror.Item) (mirror.Item, error) {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html><body>\n")
	for _, i := range slices.Concat(items...) {
		file := html.EscapeString(path.Base(i.Path))
		fmt.Fprintf(&b, "<a href=\"%s#sha256=%s\">%s</a>\n", file, i.SHA256, file)
	}
	b.WriteString("</body></html>\n")
	return f.Store.Put(pypiPath+name+"/", "text/html", []byte(b.String()))
}
