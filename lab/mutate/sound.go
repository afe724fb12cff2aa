package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// sound remembers which packages' tests pass while nothing is broken.
type sound struct {
	mu     sync.Mutex // guards tested
	tested map[string]func() error
}

// unbroken returns an error if the tests of a package fail while nothing is broken,
// because then every mutant would seem to be caught. It runs them only once for each
// package, before the first mutant that needs them.
func (b bench) unbroken(ctx context.Context, pkg string) error {
	b.sound.mu.Lock()
	test := b.sound.tested[pkg]
	if test == nil {
		test = sync.OnceValue(func() error { return b.baseline(ctx, pkg) })
		b.sound.tested[pkg] = test
	}
	b.sound.mu.Unlock()
	return test()
}

func (b bench) baseline(ctx context.Context, pkg string) error {
	b.timeout *= 5 // without a mutant no test hangs, but on a busy machine tests are slow
	out, err := b.test(ctx, pkg)
	if err != nil {
		return fmt.Errorf("the tests of %s fail without any mutant: %w\n%s", pkg, err, lastLines(out, 20))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
