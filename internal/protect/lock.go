package protect

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// opencode goes on without a plugin that it cannot load. So its list of
// providers is locked: a word stands before each that only our plugin takes
// away. Without the plugin there is no provider, and no model.
const (
	lockList = "enabled_providers"
	lockWord = "floodmark:"
)

// locked puts the word before each provider. Where there is no list, the
// fragment's stands for all.
func (f file) locked(old []byte) ([]byte, error) {
	mark, data := cutMark(old)
	if len(bytes.TrimSpace(data)) > 0 {
		d, err := readDocument(data)
		if err != nil {
			return nil, err
		}
		if list := arrayOf(valueOf(d.object, lockList)); list != nil {
			edits := wordEdits(list, func(s string) string { return lockWord + strings.TrimPrefix(s, lockWord) })
			return append(mark, edited(data, edits)...), nil
		}
	}
	return f.withJSON(old)
}

// unlocked takes the word away, and the list if it is ours.
func (f file) unlocked(old content, before *content) (content, error) {
	bare, err := f.withoutJSON(old, before)
	if err != nil || !bare.there || len(bytes.TrimSpace(bare.data)) == 0 {
		return bare, err
	}
	mark, data := cutMark(bare.data)
	d, err := readDocument(data)
	if err != nil {
		return old, err
	}
	if list := arrayOf(valueOf(d.object, lockList)); list != nil {
		data = edited(data, wordEdits(list, func(s string) string { return strings.TrimPrefix(s, lockWord) }))
	}
	return content{true, append(mark, data...)}, nil
}

// wordEdits changes the words of a list.
func wordEdits(list *hujson.Array, change func(string) string) (edits []edit) {
	for i := range list.Elements {
		e := &list.Elements[i]
		l, is := e.Value.(hujson.Literal)
		if !is || l.Kind() != '"' || change(l.String()) == l.String() {
			continue
		}
		edits = append(edits, edit{e.StartOffset, e.EndOffset - e.StartOffset, quote(change(l.String()))})
	}
	return edits
}
