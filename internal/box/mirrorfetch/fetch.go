// Package mirrorfetch fills a mirror with what a lock file pins, from registries that the owner
// configured. The requests and their order depend only on the lock file and on what the mirror
// already has. Nothing that runs in a box influences them.
//
// Addresses are never taken from the lock file. Package lockfile leaves out an entry that points to
// a registry other than the configured one, and an npm or pip file with an entry left out is not
// used at all.
package mirrorfetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/module"

	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// Registries are the servers that packages are fetched from.
type Registries struct {
	// Go, Npm and PyPI are https addresses, as in [Public].
	Go, Npm, PyPI string
	// Hosts are further hosts that a registry may redirect or link to for a package.
	Hosts []string
	// Private are patterns for the beginnings of package names that no registry is asked for, in
	// the form of GOPRIVATE.
	Private []string
}

// Public returns the well-known registries.
func Public() Registries {
	return Registries{
		Go: "https://proxy.golang.org", Npm: "https://registry.npmjs.org", PyPI: "https://pypi.org/simple",
		Hosts: []string{"files.pythonhosted.org", "storage.googleapis.com"},
	}
}

// A Fetcher fills a mirror. It is safe for concurrent use.
type Fetcher struct {
	Store mirror.Store
	From  Registries
	// Machine is the architecture for which wheels of PyPI are fetched, such as "x86_64".
	Machine string
	Now     func() time.Time
	// Dial and Roots are for tests; nil means the public network and the machine's own roots.
	Dial  func(ctx context.Context, network, place string) (net.Conn, error)
	Roots *x509.CertPool

	once sync.Once
	web  *web
}

// atOnce is how many packages are fetched at the same time. They start in the order of the list.
const atOnce = 6

// A piece is what one step fetches: all pinned archives of one version of a package.
type piece []lockfile.Package

func (p piece) name() string {
	var b strings.Builder
	for _, one := range p {
		fmt.Fprintf(&b, "%s %s %s %s\n", one.Ecosystem, one.Name, one.Version, one.Hash)
	}
	return b.String()
}

// pieces groups the packages of a list into pieces, in the order of the list.
func pieces(list []lockfile.Package) (all []piece) {
	for _, p := range list {
		if n := len(all) - 1; n >= 0 && p.Ecosystem == lockfile.PyPI && all[n][0].Name == p.Name && all[n][0].Version == p.Version {
			all[n] = append(all[n], p)
			continue
		}
		all = append(all, piece{p})
	}
	return all
}

// ErrPrivate means that the lock file pins a package that no registry may be asked for.
var ErrPrivate = errors.New("a package of the lock file is private")

// Fetch fetches all packages of a list and returns the name of their set. If one cannot be fetched,
// it fails. Private Go modules are left out.
func (f *Fetcher) Fetch(ctx context.Context, list []lockfile.Package) (set string, err error) {
	f.once.Do(func() { f.web = f.newWeb() })
	defer f.Store.Sweep(f.Now()) // also removes what a failed fetch has left
	public := slices.DeleteFunc(slices.Clone(list), func(p lockfile.Package) bool { return f.private(p.Name) })
	if len(public) < len(list) && slices.ContainsFunc(list, func(p lockfile.Package) bool { return p.Ecosystem != lockfile.Go }) {
		return "", ErrPrivate
	}
	all := pieces(public)
	items, err := f.all(ctx, all)
	if err != nil {
		return "", err
	}
	more, err := f.indexes(all, items)
	if err != nil {
		return "", err
	}
	return f.Store.PutSet(slices.Concat(append(items, more)...))
}

// private reports whether a name matches one of the Private patterns.
func (f *Fetcher) private(name string) bool {
	return module.MatchPrefixPatterns(strings.Join(f.From.Private, ","), name)
}

// all fetches the pieces that the mirror does not have yet. It stops at the first failure.
func (f *Fetcher) all(ctx context.Context, all []piece) (items [][]mirror.Item, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	items = make([][]mirror.Item, len(all))
	room := make(chan struct{}, atOnce)
	var under sync.WaitGroup
	for i, p := range all {
		room <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		under.Go(func() {
			defer func() { <-room }()
			got, err := f.piece(ctx, p)
			if err != nil {
				cancel(fmt.Errorf("%s %s: %w", p[0].Name, p[0].Version, err))
			}
			items[i] = got
		})
	}
	under.Wait()
	return items, context.Cause(ctx)
}

// piece returns the items of a piece, from the mirror or from its registry.
func (f *Fetcher) piece(ctx context.Context, p piece) ([]mirror.Item, error) {
	if items := f.Store.Known(p.name(), f.Now()); len(items) > 0 {
		return items, nil
	}
	var items []mirror.Item
	var err error
	switch p[0].Ecosystem {
	case lockfile.Go:
		items, err = f.module(ctx, p[0])
	case lockfile.Npm:
		items, err = f.archive(ctx, p[0])
	case lockfile.PyPI:
		items, err = f.wheels(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return items, f.Store.Note(p.name(), items)
}

// indexes makes the answers to requests for the versions or files of a package, from the fetched
// items alone.
func (f *Fetcher) indexes(all []piece, items [][]mirror.Item) (list []mirror.Item, err error) {
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to][0].Ecosystem == all[from][0].Ecosystem && all[to][0].Name == all[from][0].Name {
			to++
		}
		var one mirror.Item
		switch all[from][0].Ecosystem {
		case lockfile.Go:
			one, err = f.versions(all[from:to])
		case lockfile.Npm:
			one, err = f.packument(all[from:to], items[from:to])
		case lockfile.PyPI:
			one, err = f.page(all[from][0].Name, items[from:to])
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		from = to
	}
	return list, nil
}
