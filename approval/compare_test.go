package approval_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// isCode finds expressions for typed codes or their MACs.
var isCode = regexp.MustCompile(`(^|\.)(Code|GetCode\(\)|CodeMAC|GetCodeMac\(\)|code|Pick|\.PickEnd)$`)

// harmless finds operands that other kinds of codes are compared with: our own words, exit codes,
// statuses, the numbers of JSON-RPC, and nil.
var harmless = regexp.MustCompile(`^("|floodmark\.|http\.|connect\.|exit|cli\.Exit|codeRejected$|codeUnlisted$|codeOpenFirst$|nil$|[0-9])`)

// Codes are compared by crypto/subtle over digests of one length, in one place. The test names the
// file of any other comparison.
func TestCodesAreComparedInOnePlace(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "tools" || d.Name() == "bench" || d.Name() == "examples" || d.Name() == "shellscan" || d.Name() == "story") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if bad, subtle := comparison(n); bad != "" {
				t.Errorf("%s compares a code: %s; use approval.SameDigest", set.Position(n.Pos()), bad)
			} else if subtle {
				found++
				if filepath.ToSlash(path) != "../approval/approval.go" && !strings.Contains(path, "webhook") && !strings.Contains(path, "httpapi") {
					t.Errorf("%s compares in constant time by itself; use approval.SameDigest", set.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("nothing compares codes at all")
	}
}

// comparison returns a comparison of codes in a node, and whether it is the allowed one.
func comparison(n ast.Node) (bad string, subtle bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		a, b := types.ExprString(n.X), types.ExprString(n.Y)
		if (n.Op == token.EQL || n.Op == token.NEQ) && (isCode.MatchString(a) && !harmless.MatchString(b) || isCode.MatchString(b) && !harmless.MatchString(a)) {
			return a + " " + n.Op.String() + " " + b, false
		}
	case *ast.CallExpr:
		f := types.ExprString(n.Fun)
		switch f {
		case "subtle.ConstantTimeCompare":
			return "", true
		case "strings.EqualFold", "strings.Compare", "bytes.Equal", "hmac.Equal", "strings.HasPrefix", "strings.Contains":
			for _, a := range n.Args {
				if isCode.MatchString(types.ExprString(a)) {
					return f + " of " + types.ExprString(a), false
				}
			}
		}
	}
	return "", false
}

// The check finds comparisons.
func TestComparisonsAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"t.Code == typed": true, "typed != q.GetCode()": true, "o.CodeMAC == mac": true, "strings.EqualFold(t.Code, x)": true, "hmac.Equal(a, t.Code)": true,
		`t.Code == ""`: false, "r.Code == floodmark.Granted": false, "err.Code == codeUnlisted": false, "t.Code == codeTyped": true, "SameDigest(a, b)": false,
	} {
		e, err := parser.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		if bad, _ := comparison(e); (bad != "") != want {
			t.Errorf("%s: %q", text, bad)
		}
	}
}
