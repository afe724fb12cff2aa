package protect

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// opencode keeps running without a plugin that it cannot load. So we lock its list of providers:
// each name gets a prefix that only our plugin removes. Without the plugin opencode finds no
// provider, and so no model.
const (
	lockList = "enabled_providers"
	lockWord = "floodmark:"
)

// locked puts the prefix before each provider. If there is no list, the fragment's list, which
// stands for all providers, is added.
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

// unlocked removes the prefix, and the list if we added it.
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

// wordEdits returns the edits that change the strings of a list.
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
