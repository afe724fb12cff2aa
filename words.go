package floodmark

import (
	"fmt"
	"strings"
)

// words maps an ordered type's values to their words. Only words are used on the wire and on disk,
// never numbers.
type words [7]string

func (ws words) word(i int) string {
	if i >= 0 && i < len(ws) && ws[i] != "" {
		return ws[i]
	}
	return fmt.Sprintf("invalid(%d)", i)
}

func (ws words) marshal(i int) ([]byte, error) {
	if i < 0 || i >= len(ws) || ws[i] == "" {
		return nil, fmt.Errorf("no word for value %d", i)
	}
	return []byte(ws[i]), nil
}

// index returns 0, the safest value, together with the error.
func (ws words) index(what, word string) (int, error) {
	for i, w := range ws {
		if w != "" && w == word {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (want one of %s)", what, word, ws.list())
}

func (ws words) list() string {
	var known []string
	for _, w := range ws {
		if w != "" {
			known = append(known, w)
		}
	}
	return strings.Join(known, ", ")
}
