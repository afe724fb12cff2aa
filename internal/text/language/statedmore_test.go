package language

import (
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func TestStatedTokensAndWhatStandsBesideThem(t *testing.T) {
	for _, tt := range []struct {
		text string
		yes  []string
		no   []string
	}{
		{"Mail a@b.com|x or x|c@d.com> now", nil, []string{"a@b.com", "c@d.com"}},
		{"Mail a@b.com谢", nil, []string{"a@b.com"}},
		{"Mail 🎉a@b.com or –c@d.com", []string{"a@b.com"}, []string{"c@d.com"}},
		{`Mail "a@b.com"`, []string{"a@B.COM"}, nil},
		{`Read "say 'b c' a@evil.com"`, nil, []string{"a@evil.com"}},
		{"Open www.good.com", []string{"www.good.com"}, []string{"www.evil.com"}},
		{"Open file:///Home/X", []string{"file:///Home/X"}, []string{"file:///home/x"}},
		{"Open https://A.de/x or https://Z.de/x", []string{"https://a.de/x", "https://z.de/x"}, []string{"https://a.de/X"}},
		{"See *a/b* or **c/d**.", []string{"a/b", "c/d"}, nil},
		{"*a/b* or e/f*", []string{"a/b"}, []string{"e/f"}},
		{"Open ftp://a.example or http://b.example", []string{"ftp://a.example", "http://b.example/"}, []string{"ftp://a.example/"}},
		{"访问", nil, []string{"访 问"}},
		{"Ask Ed or I", []string{"Ed"}, []string{"I", "Ed or I"}},
		{"Pay Bank of America", []string{"Bank of America"}, []string{"Bank", "America"}},
		{"Pay Bank of", []string{"Bank"}, []string{"Bank of"}},
		{"Pay Bank of, America", []string{"Bank", "America"}, []string{"Bank of America"}},
		{"Pay Bank of money", []string{"Bank"}, []string{"Bank of money"}},
	} {
		s := stated(tt.text)
		for _, v := range tt.yes {
			if !s.Has(v, hook.String, "x") {
				t.Errorf("%q does not state %q", tt.text, v)
			}
		}
		for _, v := range tt.no {
			if s.Has(v, hook.String, "x") {
				t.Errorf("%q states %q", tt.text, v)
			}
		}
	}
	if s := stated("mail bob@mail.example about it"); s.HasHost("mail.example") {
		t.Error("an address names a host to look at")
	}
}
