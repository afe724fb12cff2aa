package hook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

// plainLeaves returns what [hook.Call.Leaves] must return. It uses the library's own decoder, which
// is slower and simpler.
func plainLeaves(args []byte) ([]hook.Leaf, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	leaves, err := plainValue(dec, "", "", nil)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return leaves, nil
}

func plainValue(dec *json.Decoder, path, top string, leaves []hook.Leaf) ([]hook.Leaf, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	leaf := hook.Leaf{Path: path, Top: top}
	switch v := tok.(type) {
	case json.Delim:
		if !dec.More() && path != "" {
			leaf.Value, leaf.Kind = map[json.Delim]string{'{': "{}", '[': "[]"}[v], hook.Null
			leaves = append(leaves, leaf)
		}
		seen := map[string]bool{}
		for i := 0; dec.More(); i++ {
			p, t := path+"["+strconv.Itoa(i)+"]", top
			if v == '{' {
				tok, err := dec.Token()
				if err != nil {
					return nil, err
				}
				key, _ := tok.(string)
				if seen[key] {
					return nil, errors.New("twice")
				}
				seen[key] = true
				if p, t = key, key; key == "" || strings.ContainsAny(key, ".[]\"\\") {
					p = strconv.Quote(key)
				}
				if path != "" {
					p, t = path+"."+p, top
				}
			}
			if leaves, err = plainValue(dec, p, t, leaves); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return leaves, err
	case string:
		leaf.Value = v
	case json.Number:
		leaf.Value, leaf.Kind = v.String(), hook.Number
	case bool:
		leaf.Value, leaf.Kind = strconv.FormatBool(v), hook.Bool
	default:
		leaf.Value, leaf.Kind = "null", hook.Null
	}
	return append(leaves, leaf), nil
}

// FuzzLeaves compares [hook.Call.Leaves] with plainLeaves.
func FuzzLeaves(f *testing.F) {
	for _, args := range []string{
		`{"to":"a","n":-1.5e3,"l":[true,false,null,{"x":"y"}],"e":{},"f":[]}`, ` { "a" : [ 1 , "\u00e9\"" ] } `,
		"\"\xff\"", `{"a":1,"\u0061":2}`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `01`, `"\ud800"`, `{"":{"":1}}`, `1 2`, "\"é\"", `nul`, `{"a":tru}`,
		`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"9":1}`, `{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"1":1}`,
		strings.Repeat("[", 60) + strings.Repeat("]", 60), `[[],[1],[[2]]]`, "{\"a\":\"b\tc\"}", `"a\\"`, "\v1",
	} {
		f.Add([]byte(args))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		got, err := hook.Call{Args: args}.Leaves()
		if len(bytes.TrimSpace(args)) == 0 {
			return
		}
		want, plainErr := plainLeaves(args)
		switch {
		case err != nil && (plainErr != nil || len(want) > hook.MaxLeaves || bytes.Count(args, []byte("["))+bytes.Count(args, []byte("{")) > hook.MaxArgsDepth):
		case (err != nil) != (plainErr != nil):
			t.Errorf("%q: %v, want %v", args, err, plainErr)
		case len(got)+len(want) > 0 && !reflect.DeepEqual(got, want):
			t.Errorf("%q: %+v, want %+v", args, got, want)
		}
	})
}
