package main

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// theirs is the part of gitleaks' table that is used.
type theirs struct {
	Allow theirAllow  `toml:"allowlist"`
	Rules []theirRule `toml:"rules"`
}

type theirRule struct {
	ID          string       `toml:"id"`
	Description string       `toml:"description"`
	Regex       string       `toml:"regex"`
	Keywords    []string     `toml:"keywords"`
	Entropy     float64      `toml:"entropy"`
	Allowlists  []theirAllow `toml:"allowlists"`
}

type theirAllow struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`
}

// rule is one of our rules. internal/secret/redact documents its fields.
type rule struct {
	ID       string              `json:"id"`
	Keywords []string            `json:"keywords,omitempty"`
	Regex    string              `json:"regex,omitempty"`
	Needs    []string            `json:"needs,omitempty"`
	Reach    int                 `json:"reach,omitempty"`
	Names    []string            `json:"names,omitempty"`
	Spelled  map[string][]string `json:"spelled,omitempty"`
	Value    string              `json:"value,omitempty"`
	Entropy  float64             `json:"entropy,omitempty"`
	Allow    []allow             `json:"allow,omitempty"`
}

type allow struct {
	On        string   `json:"on,omitempty"`
	Regexes   []string `json:"regexes,omitempty"`
	Stopwords []string `json:"stopwords,omitempty"`
}

// leftOut returns the rules that make sense only with the name of a file.
func leftOut() map[string]string {
	return map[string]string{
		"pkcs12-file":           "looks at the name of a file only",
		"hashicorp-tf-password": "takes any quoted word after «password» for a secret, which holds in Terraform files only",
	}
}

// The form that most rules have: a name, an assignment, a value.
const (
	before  = `(?i)[\w.-]{0,50}?(?:`
	before2 = `[\w.-]{0,50}?(?i:[\w.-]{0,50}?(?:`
	middle  = `)(?:[ \t\w.-]{0,20})[\s'"]{0,3}`
	assigns = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	after   = `)(?:[\x60'"\s;]|\\[nr]|$)`
)

// split turns one of gitleaks' rules into ours: an assignment, a token, or one of each.
func split(r theirRule) ([]rule, error) {
	base := rule{ID: r.ID, Entropy: r.Entropy, Allow: allowOf(r.Allowlists)}
	rest, fold := strings.CutPrefix(r.Regex, before)
	closing := middle
	if !fold {
		rest, _ = strings.CutPrefix(r.Regex, before2)
		closing += ")"
	}
	name, rest, ok := strings.Cut(rest, closing+assigns)
	if !ok {
		return []rule{token(base, r)}, nil
	}
	value, rest, ok := strings.Cut(rest, after)
	if !ok {
		return nil, fmt.Errorf("an assignment without an end: %s", r.Regex)
	}
	named := base
	named.Value = value
	if fold {
		named.Value = "(?i)" + value
	}
	if err := named.name(name); err != nil {
		return nil, err
	}
	if rest == "" {
		return []rule{named}, nil
	}
	other, ok := strings.CutPrefix(rest, "|")
	if !ok {
		return nil, fmt.Errorf("an assignment with more behind it: %s", rest)
	}
	return []rule{named, token(base, theirRule{ID: r.ID, Regex: other, Keywords: literal(other)})}, nil
}

// name adds every name of an assignment in lower case. If case matters, it also adds the allowed
// spellings.
func (r *rule) name(pattern string) error {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return err
	}
	for _, s := range spell(re) {
		lower := strings.ToLower(s.text)
		r.Names = append(r.Names, lower)
		if s.cased {
			if r.Spelled == nil {
				r.Spelled = map[string][]string{}
			}
			r.Spelled[lower] = append(r.Spelled[lower], s.text)
		}
	}
	slices.Sort(r.Names)
	if r.Names = slices.Compact(r.Names); len(r.Names) == 0 || len(r.Names) > 100 {
		return fmt.Errorf("%d names in %s", len(r.Names), pattern)
	}
	return nil
}

// A spelling is a string that a pattern matches, only in this case or in any.
type spelling struct {
	text  string
	cased bool
}

// spell returns all strings that a pattern matches. A dot matches only itself.
func spell(re *syntax.Regexp) []spelling {
	switch re.Op { //nolint:exhaustive // names contain nothing else; any other pattern has no spelling
	case syntax.OpLiteral:
		text := string(re.Rune)
		if len(re.Rune) == 1 && re.Flags&syntax.FoldCase != 0 {
			// The parser represents «[Aa]» like this.
			return []spelling{{strings.ToLower(text), false}, {strings.ToUpper(text), false}}
		}
		cased := re.Flags&syntax.FoldCase == 0 && strings.ToLower(text) != strings.ToUpper(text)
		return []spelling{{text, cased}}
	case syntax.OpAnyCharNotNL:
		return []spelling{{".", false}}
	case syntax.OpEmptyMatch:
		return []spelling{{}}
	case syntax.OpCharClass:
		var list []spelling
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], 127); r++ {
				list = append(list, spelling{string(r), false})
			}
		}
		return list
	case syntax.OpCapture:
		return spell(re.Sub[0])
	case syntax.OpQuest:
		return append(spell(re.Sub[0]), spelling{})
	case syntax.OpAlternate:
		var list []spelling
		for _, sub := range re.Sub {
			list = append(list, spell(sub)...)
		}
		return list
	case syntax.OpConcat:
		list := []spelling{{}}
		for _, sub := range re.Sub {
			var longer []spelling
			for _, head := range list {
				for _, tail := range spell(sub) {
					longer = append(longer, spelling{head.text + tail.text, head.cased || tail.cased})
				}
			}
			list = longer
		}
		return list
	}
	return nil
}

// literal returns the first run of letters and digits in a pattern as its keyword.
func literal(pattern string) []string {
	return []string{strings.ToLower(regexp.MustCompile(`[A-Za-z0-9]{4,}`).FindString(pattern))}
}

// reachOfCurl bounds how far a command line is searched. It is rarely longer than six lines.
const reachOfCurl = 1 << 10

// token keeps a rule as it is. If its keyword is too common for a fast search, a better one is
// added.
func token(base rule, r theirRule) rule {
	base.Regex = r.Regex
	for _, k := range r.Keywords {
		base.Keywords = append(base.Keywords, strings.ToLower(k))
	}
	switch r.ID {
	case "curl-auth-header":
		base.Needs, base.Reach = []string{"-H", "--header"}, reachOfCurl
	case "curl-auth-user":
		base.Needs, base.Reach = []string{"-u", "--user"}, reachOfCurl
	case "private-key":
		base.Needs = []string{"PRIVATE KEY", "private key"}
	case "kubernetes-secret-yaml":
		base.Needs, base.Keywords = []string{"data:"}, nil
		for _, gap := range []string{"", " ", "\t"} {
			for _, quote := range []string{"", `"`, "'"} {
				base.Keywords = append(base.Keywords, "kind:"+gap+quote+"secret")
			}
		}
	case "intra42-client-secret":
		base.Keywords = []string{"s-s4t2ud-", "s-s4t2af-"}
	case "cloudflare-origin-ca-key":
		base.Keywords = []string{"v1.0-"}
	}
	return base
}

// allowOf keeps the allowlists that can be applied without the name of a file.
func allowOf(list []theirAllow) []allow {
	var out []allow
	for _, a := range list {
		if a.Condition == "AND" && len(a.Paths) > 0 || len(a.Regexes)+len(a.Stopwords) == 0 {
			continue
		}
		ours := allow{On: a.RegexTarget}
		for _, re := range a.Regexes {
			// Public example keys, written so that scanners do not report them.
			ours.Regexes = append(ours.Regexes, strings.ReplaceAll(re, "AIza", "AIz[a]"))
		}
		for _, w := range a.Stopwords {
			ours.Stopwords = append(ours.Stopwords, strings.ToLower(w))
		}
		slices.Sort(ours.Stopwords)
		ours.Stopwords = slices.Compact(ours.Stopwords)
		out = append(out, ours)
	}
	return out
}
