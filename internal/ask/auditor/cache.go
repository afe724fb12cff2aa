package auditor

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// A caseName identifies a case; see [Auditor.name].
type caseName [sha256.Size]byte

// How many answers are kept, and how long.
const (
	maxKept = 1024
	keptFor = time.Hour
)

// A cache keeps clear answers: allow and block. When it is full, the oldest is dropped.
type cache struct {
	mu    sync.Mutex // guards what is below
	kept  map[caseName]keptOpinion
	order []caseName // as they came
}

type keptOpinion struct {
	audit.Opinion
	until time.Time
}

func (c *cache) get(name caseName, now time.Time) (audit.Opinion, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.kept[name]
	if !ok || !now.Before(k.until) {
		return audit.Opinion{}, false
	}
	return k.Opinion, true
}

func (c *cache) put(name caseName, o audit.Opinion, now time.Time) {
	if o.Says != audit.Allow && o.Says != audit.Block {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[caseName]keptOpinion{}
	}
	if _, again := c.kept[name]; !again {
		if len(c.order) >= maxKept {
			delete(c.kept, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, name)
	}
	c.kept[name] = keptOpinion{o, now.Add(keptFor)}
}
