package teams

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// commits holds the commits of one branch. Their file has one commit per line, sorted.
type commits struct {
	width int
	rows  string // lines of equal width, sorted
}

const maxFile = 512 << 20

func newCommits(list []string) *commits {
	list = slices.Clone(list)
	slices.Sort(list)
	return &commits{width: len(list[0]) + 1, rows: strings.Join(list, "\n") + "\n"}
}

// has reports whether a commit is on the branch.
func (c *commits) has(id string) bool {
	if len(id)+1 != c.width {
		return false
	}
	low, high := 0, len(c.rows)/c.width
	for low < high {
		middle := (low + high) / 2
		if c.row(middle) < id {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low < len(c.rows)/c.width && c.row(low) == id
}

func (c *commits) row(i int) string { return c.rows[i*c.width : (i+1)*c.width-1] }

func (c *commits) write(name string) error { return wholefile.Replace(name, []byte(c.rows), 0o600) }

// readCommits reads a file of commits, which must contain the tip.
func readCommits(name, tip string) (*commits, error) {
	rows, err := wholefile.ReadOwn(name, maxFile)
	if err != nil {
		return nil, err
	}
	c := &commits{width: len(tip) + 1, rows: string(rows)}
	if len(rows)%c.width != 0 || bytes.Count(rows, []byte("\n")) != len(rows)/c.width || !c.has(tip) {
		return nil, fmt.Errorf("%s: not the commits of %.12s", name, tip)
	}
	return c, nil
}
