// Package mirror keeps packages that a project has pinned and answers a box from them. It never
// uses a network: a request for something that is not there fails. Package mirrorfetch fills it.
//
// Indexes are made here from the verified archives. The index of npm names the public address of
// each archive. npm writes that address into its lock file, so the lock file does not change.
package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An Item is one answer: the content at a path of the mirror.
type Item struct {
	Path   string `json:"path"` // as it is asked for, without escapes
	Kind   string `json:"kind"` // its media type
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// A Store is the folder of a mirror. Contents are named by their hashes; a set names the
// items that one box may ask for, and is itself named by its hash.
type Store struct {
	Folder string
	// Quota is how many bytes are kept.
	Quota int64
}

// The limits of a mirror.
const (
	MaxItem  = 256 << 20 // bytes of one content
	MaxSet   = 2 << 30   // bytes of all that one box may ask for
	MaxItems = 80_000
	Quota    = 4 << 30

	maxSetFile = 64 << 20
	maxPath    = 1024
)

var errLarge = errors.New("it is larger than a mirror keeps")

// Create returns a file for a content whose hash is not known yet. The caller closes it, and either
// keeps it with [Store.Keep] or removes it.
func (s Store) Create() (*os.File, error) {
	at := filepath.Join(s.Folder, "new")
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(at, "item-")
}

// Fill copies a content to a file and returns its hash and size.
func Fill(to io.Writer, from io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(to, h), io.LimitReader(from, MaxItem+1))
	if err == nil && size > MaxItem {
		err = errLarge
	}
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// Keep stores a file as the content with the given hash.
func (s Store) Keep(file, sum string) error {
	if err := os.MkdirAll(filepath.Join(s.Folder, "contents"), 0o700); err != nil {
		return err
	}
	return os.Rename(file, s.content(sum))
}

// Put keeps a content that is in memory.
func (s Store) Put(at, kind string, data []byte) (Item, error) {
	f, err := s.Create()
	if err != nil {
		return Item{}, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then
	sum, size, err := Fill(f, strings.NewReader(string(data)))
	if err = errors.Join(err, f.Close()); err != nil {
		return Item{}, err
	}
	return Item{Path: at, Kind: kind, SHA256: sum, Size: size}, s.Keep(f.Name(), sum)
}

// Has reports whether a content is there, and marks it as used.
func (s Store) Has(i Item, now time.Time) bool {
	info, err := os.Lstat(s.content(i.SHA256))
	if !hash(i.SHA256) || err != nil || !info.Mode().IsRegular() || info.Size() != i.Size {
		return false
	}
	return os.Chtimes(s.content(i.SHA256), now, now) == nil
}

// Known returns the items that were noted under a name; none if one of them is gone.
func (s Store) Known(name string, now time.Time) []Item {
	data, err := readList(s.note(name))
	if err != nil {
		return nil
	}
	items, err := parse(data)
	if err != nil || slices.ContainsFunc(items, func(i Item) bool { return !s.Has(i, now) }) {
		return nil
	}
	return items
}

// Note records items under a name, for [Store.Known].
func (s Store) Note(name string, items []Item) error { return s.write(s.note(name), items) }

// PutSet keeps the list of what one box may ask for, and returns its name.
func (s Store) PutSet(items []Item) (name string, err error) {
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	items = slices.Compact(items)
	if err := check(items); err != nil {
		return "", err
	}
	data, err := json.Marshal(items)
	if err != nil || len(data) > maxSetFile {
		return "", errors.Join(errLarge, err)
	}
	sum := sha256.Sum256(data)
	name = hex.EncodeToString(sum[:])
	return name, s.write(filepath.Join(s.Folder, "sets", name), items)
}

func (s Store) write(file string, items []Item) error {
	data, err := json.Marshal(items)
	if err != nil {
		return err
	}
	f, err := s.Create()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close(), os.MkdirAll(filepath.Dir(file), 0o700)); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func (s Store) content(sum string) string { return filepath.Join(s.Folder, "contents", sum) }

func (s Store) note(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.Folder, "known", hex.EncodeToString(sum[:]))
}

func hash(sum string) bool {
	raw, err := hex.DecodeString(sum)
	return err == nil && len(raw) == sha256.Size && sum == strings.ToLower(sum)
}

// readList reads the bytes of a list.
func readList(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSetFile+1))
	if err == nil && len(data) > maxSetFile {
		err = errLarge
	}
	return data, err
}

func parse(data []byte) (items []Item, err error) {
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, err
	}
	return items, check(items)
}

// check refuses a list that no fetcher could have written.
func check(items []Item) error {
	if len(items) > MaxItems {
		return errLarge
	}
	all := int64(0)
	for _, i := range items {
		if !hash(i.SHA256) || i.Size < 0 || i.Size > MaxItem || !strings.HasPrefix(i.Path, "/") || len(i.Path) > maxPath || strings.ContainsAny(i.Kind, "\r\n") {
			return fmt.Errorf("%.100q is no item of a mirror", i.Path)
		}
		all += i.Size
	}
	if all > MaxSet {
		return errLarge
	}
	return nil
}

// Sweep removes unfinished files. Then it removes the contents that were unused for longest until
// the rest is within the quota, but none that was used at the given time or later.
func (s Store) Sweep(now time.Time) {
	for _, left := range list(filepath.Join(s.Folder, "new")) {
		if now.Sub(left.at) > time.Hour {
			_ = os.Remove(left.path)
		}
	}
	contents := list(filepath.Join(s.Folder, "contents"))
	slices.SortFunc(contents, func(a, b file) int { return a.at.Compare(b.at) })
	all := int64(0)
	for _, c := range contents {
		all += c.size
	}
	for _, c := range contents {
		if all <= s.Quota || !c.at.Before(now) {
			break
		}
		if os.Remove(c.path) == nil {
			all -= c.size
		}
	}
	const most = 30 * 24 * time.Hour // lists are small, and a missing one is made again
	for _, l := range slices.Concat(list(filepath.Join(s.Folder, "sets")), list(filepath.Join(s.Folder, "known"))) {
		if now.Sub(l.at) > most {
			_ = os.Remove(l.path)
		}
	}
}

type file struct {
	path string
	at   time.Time
	size int64
}

func list(folder string) (all []file) {
	entries, _ := os.ReadDir(folder) // the folder does not exist before the first package
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, file{filepath.Join(folder, e.Name()), info.ModTime(), info.Size()})
		}
	}
	return all
}

// A Shelf answers requests from one set.
type Shelf struct {
	store Store
	items map[string]Item
}

// Open opens a set.
func Open(folder, name string) (*Shelf, error) {
	s := Store{Folder: folder}
	if !hash(name) {
		return nil, errors.New("this is not the name of a mirror's set")
	}
	data, err := readList(filepath.Join(folder, "sets", name))
	if err != nil {
		return nil, fmt.Errorf("the mirror's set cannot be read: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != name {
		return nil, errors.New("the mirror's set was changed")
	}
	items, err := parse(data)
	if err != nil {
		return nil, err
	}
	shelf := &Shelf{s, map[string]Item{}}
	for _, i := range items {
		shelf.items[i.Path] = i
	}
	return shelf, nil
}

// Get returns the content at a path. It makes no request and records nothing.
func (s *Shelf) Get(at string) (kind string, size int64, content io.ReadCloser, ok bool) {
	i, ok := s.items[at]
	if !ok {
		return "", 0, nil, false
	}
	f, err := os.OpenFile(s.store.content(i.SHA256), os.O_RDONLY, 0)
	if err != nil {
		return "", 0, nil, false
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeType != 0 || info.Size() != i.Size {
		_ = f.Close()
		return "", 0, nil, false
	}
	return i.Kind, i.Size, f, true
}

// Read returns a short content.
func (s Store) Read(i Item) ([]byte, error) {
	if !hash(i.SHA256) || i.Size > maxSetFile {
		return nil, errLarge
	}
	return readList(s.content(i.SHA256))
}
