package boxspec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/project/workspace"
)

// BenchmarkFor shows what a box costs before it starts: the look for secrets, the
// first time and when nothing has changed. Folders have ten files each.
//
//	go test ./internal/box/boxspec -run - -bench For -benchtime 3x
func BenchmarkFor(b *testing.B) {
	c, err := catalog.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	for _, folders := range []int{500, 5_000, 20_000} {
		root, err := filepath.EvalSymlinks(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		at := catalog.Places{Project: filepath.Join(root, "home", "p"), Home: filepath.Join(root, "home")}
		fill(b, at.Project, folders)
		once := func(d boxspec.Disk) {
			if _, err := boxspec.For(c, at, d, filepath.Join(root, "box")); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("%d/first", folders), func(b *testing.B) {
			for b.Loop() {
				once(workspace.New(workspace.Options{}))
			}
		})
		b.Run(fmt.Sprintf("%d/again", folders), func(b *testing.B) {
			d := workspace.New(workspace.Options{})
			once(d)
			for b.Loop() {
				once(d)
			}
		})
	}
}

// fill makes about as many folders, 20 in each.
func fill(b *testing.B, project string, folders int) {
	b.Helper()
	for i := range folders {
		dir := filepath.Join(project, fmt.Sprint("m", i/400), fmt.Sprint("p", i/20%20), fmt.Sprint("c", i%20))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 10 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("File%d.java", j)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
}
