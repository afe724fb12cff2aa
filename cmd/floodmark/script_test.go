package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func (*scripts) toFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: stdout2file FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), ts.Value(lastKey{}).(*last).stdout.Bytes(), 0o600))
}

func (*scripts) get(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: get FILE PATH WANT")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got, err := dig(v, args[1])
	if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s, not %s", args[1], got, args[2])
	}
}

// dig returns the value at a path such as a.b[0].c. The last part «count» means the length of a
// list.
func dig(v any, path string) (string, error) {
	path = strings.ReplaceAll(strings.ReplaceAll(path, "[", "."), "]", "")
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return "(absent)", nil
			}
			v = next
		case []any:
			if key == "count" {
				return strconv.Itoa(len(at)), nil
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				return "", fmt.Errorf("no element %s of %d", key, len(at))
			}
			v = at[i]
		default:
			return "", fmt.Errorf("nothing below %q", key)
		}
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

func (*scripts) absent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: absent PATTERN")
	}
	l := ts.Value(lastKey{}).(*last)
	if m := regexp.MustCompile(args[0]).FindString(l.stdout.String() + l.stderr.String()); m != "" {
		ts.Fatalf("found %q", m)
	}
}
