package protect

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// Commands returns the command lines that call our hook program in an agent's settings as they are
// now. An agent that loads our code instead has none.
func (m Machine) Commands(name string) ([]string, error) {
	k, err := kindOf(name)
	if err != nil {
		return nil, err
	}
	files, err := k.files(m)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, one := range files {
		if one.sort != jsonPart {
			continue
		}
		now, err := m.current(one)
		if err != nil {
			return nil, fileError(one.path, err)
		}
		found, err := commandLines(now.data)
		if err != nil {
			return nil, fileError(one.path, err)
		}
		list = append(list, found...)
	}
	return list, nil
}

func commandLines(data []byte) (list []string, err error) {
	_, data = cutMark(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	d, err := readDocument(data)
	if err != nil {
		return nil, err
	}
	for v := range d.root.All() {
		if l, is := v.Value.(hujson.Literal); is && l.Kind() == '"' && len(hookWords(l.String())) > 0 {
			list = append(list, l.String())
		}
	}
	return list, nil
}

// Shim returns the file with our code that an agent loads; an error if the agent loads none.
func (m Machine) Shim(name string) (string, error) {
	k, err := kindOf(name)
	if err != nil {
		return "", err
	}
	files, err := k.files(m)
	if err != nil {
		return "", err
	}
	for _, one := range files {
		if one.sort == whole && strings.HasSuffix(one.path, ".ts") {
			return one.path, nil
		}
	}
	return "", fmt.Errorf("%s loads no code of ours", k.Title)
}
