package liverules

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// If the policy changes just when a laptop gets other rules, the earlier rules do not come back,
// because an earlier reading never replaces a later one.
func TestReadFirstDoesNotHoldLast(t *testing.T) {
	paths := config.DirPaths(t.TempDir())
	var policy atomic.Value
	policy.Store("version: 1\nprofile: coding\n")
	var slow atomic.Bool
	read, goOn := make(chan struct{}), make(chan struct{})
	fleet := func(time.Time) FleetRules {
		from := FleetRules{Name: "bundle", Data: []byte(policy.Load().(string))}
		if slow.CompareAndSwap(true, false) {
			close(read)
			<-goOn
		}
		return from
	}
	l, err := New(Options{File: paths.Policy, Reader: reader, Own: at(paths), Now: now, Changed: func(Status) {}, Fleet: fleet})
	if err != nil {
		t.Fatal(err)
	}
	slow.Store(true)
	var work sync.WaitGroup
	work.Go(func() { l.Reload() })
	<-read
	policy.Store("version: 1\nprofile: strict\n")
	second := make(chan struct{})
	work.Go(func() { l.Reload(); close(second) })
	if l.loading.TryLock() { // else it waits for the first
		l.loading.Unlock()
		<-second
	}
	close(goOn)
	work.Wait()
	if got := l.Rules().Policy.Profile(); got != "strict" {
		t.Errorf("rules that were taken back hold: profile %s", got)
	}
}
