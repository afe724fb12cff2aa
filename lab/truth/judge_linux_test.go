package truth

import (
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shellscan"
)

// A judge says what lines are taken for: what the scanner reports, and what the
// shipped catalog makes of it when an agent's own shell tool is called.
type judge struct {
	catalog  *catalog.Catalog
	commands *shellscan.Commands
}

func newJudge() (*judge, error) {
	c, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	return &judge{c, c.Commands()}, nil
}

// report is what the scanner says.
func (j *judge) report(line string) *shellscan.Report {
	r := shellscan.Scan(line, place(), j.commands)
	return &r
}

// use is what the catalog says.
func (j *judge) use(line string) catalog.Use {
	tool := floodmark.ToolRef{Agent: "claude-code", Name: "Bash"}
	leaf := hook.Leaf{Path: "command", Top: "command", Value: line}
	return j.catalog.Classify(tool, []hook.Leaf{leaf}, nil, catalog.Places{Project: project, Home: home})
}

// weaker says how the catalog falls short of a word in a session that has read what
// strangers write, or nothing.
func (j *judge) weaker(line, word string) string {
	u := j.use(line)
	switch most := slices.Min(slices.Concat(u.Effects, u.Placed)); {
	case word == "" || word == "read":
		return ""
	case word == "secret" || word == "environment":
		if most > floodmark.Run && u.PathKind != catalog.Secret && u.Returns.Secrecy != floodmark.Secret {
			return fmt.Sprintf("reads what is secret, the catalog says %v, kind %v, secrecy %v", u.Effects, u.PathKind, u.Returns.Secrecy)
		}
	case most > houseWord(word):
		return fmt.Sprintf("is %s, the catalog says %v", word, u.Effects)
	}
	return ""
}

// over says how the catalog is stronger than what was seen and than the most a
// word allows, or nothing.
func (j *judge) over(line, word string, seen []effect) string {
	most := seenStrength(seen)
	if word != "" && word != "read" && word != "secret" && word != "environment" {
		most = min(most, houseWord(word))
	}
	if u := j.use(line); slices.Min(u.Effects) < most {
		return fmt.Sprintf("is %s, the catalog says %v", most, u.Effects)
	}
	return ""
}
