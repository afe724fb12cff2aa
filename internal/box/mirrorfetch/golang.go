package mirrorfetch

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

const (
	goPath = "/_go/"
	maxMod = 16 << 20
	// maxZip is the go command's limit for the files of a module, in bytes.
	maxZip = 500 << 20
)

// module fetches the archive of a module, or only its go.mod if only that is pinned.
func (f *Fetcher) module(ctx context.Context, p lockfile.Package) ([]mirror.Item, error) {
	version, modOnly := strings.CutSuffix(p.Version, lockfile.GoMod)
	name, err := module.EscapePath(p.Name)
	if err != nil {
		return nil, err
	}
	escaped, err := module.EscapeVersion(version)
	if err != nil {
		return nil, err
	}
	at := name + "/@v/" + escaped
	says, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		return nil, err
	}
	info, err := f.Store.Put(goPath+at+".info", "application/json", says)
	if err != nil {
		return nil, err
	}
	from, ending := strings.TrimSuffix(f.From.Go, "/")+"/"+at, ".zip"
	verify := func(file *os.File, _ string) error { return sameZip(file, p.Hash) }
	if modOnly {
		ending = ".mod"
		verify = func(file *os.File, _ string) error { return sameMod(file, p.Hash) }
	}
	i, err := f.file(ctx, from+ending, goPath+at+ending, "application/octet-stream", verify)
	return []mirror.Item{info, i}, err
}

func sameMod(file io.Reader, hash string) error {
	data, err := io.ReadAll(io.LimitReader(file, maxMod+1))
	if err != nil || len(data) > maxMod {
		return errHash
	}
	got, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if err != nil || got != hash {
		return errHash
	}
	return nil
}

// sameZip checks the hash of the files in an archive. It reads at most maxZip bytes of them.
func sameZip(file *os.File, hash string) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return errHash
	}
	files, by := []string{}, map[string]*zip.File{}
	for _, one := range z.File {
		files, by[one.Name] = append(files, one.Name), one
	}
	if len(by) != len(files) {
		return errHash
	}
	left := int64(maxZip)
	got, err := dirhash.Hash1(files, func(name string) (io.ReadCloser, error) {
		r, err := by[name].Open()
		return &bounded{r, &left}, err
	})
	if err != nil || got != hash {
		return errHash
	}
	return nil
}

// A bounded is a reader whose limit is shared by all files of an archive.
type bounded struct {
	io.ReadCloser
	left *int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return n, errors.New("the archive holds too much")
	}
	return n, err
}

// versions makes the list of the pinned versions of a module.
func (f *Fetcher) versions(all []piece) (mirror.Item, error) {
	name, err := module.EscapePath(all[0][0].Name)
	if err != nil {
		return mirror.Item{}, err
	}
	var list strings.Builder
	for _, p := range all {
		if !strings.HasSuffix(p[0].Version, lockfile.GoMod) && !module.IsPseudoVersion(p[0].Version) {
			list.WriteString(p[0].Version + "\n")
		}
	}
	return f.Store.Put(goPath+name+"/@v/list", "text/plain", []byte(list.String()))
}
