package strictjson

import (
	"encoding/json"
	"testing"
)

// An object is taken apart as the library would, or not at all.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"}"]},"c":"\"" , "d" : null}`, `[]`, `{"a":"\\"}`, ` {"":-1e5 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		list, err := Members(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			if err == nil {
				t.Fatalf("%q is no object", data)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range list {
			got[m.Key] = m.Value
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %v, want %v", data, got, want)
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Fatalf("%q: %q is %q, want %q", data, k, got[k], v)
			}
		}
		if CheckDistinct(list, nil) == nil && !sameObject(Object(list), data) {
			t.Fatalf("%q was written as %q", data, Object(list))
		}
	})
}

// sameObject reports whether two objects hold the same.
func sameObject(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}
