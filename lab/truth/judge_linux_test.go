package truth

import (
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// A judge judges lines with the scanner, and with the shipped catalog as if the line were a call of
// an agent's own shell tool.
type judge struct {
	catalog  *catalog.Catalog
	commands *commandbook.Commands
}

func newJudge() (*judge, error) {
	c, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	return &judge{c, c.Commands()}, nil
}

// report returns the scanner's report on a line.
func (j *judge) report(line string) *shellscan.Report {
	r := shellscan.Scan(line, place(), j.commands)
	return &r
}

// use returns what the catalog says about a line.
func (j *judge) use(line string) catalog.Use {
	tool := floodmark.ToolRef{Agent: "claude-code", Name: "Bash"}
	leaf := hook.Leaf{Path: "command", Top: "command", Value: line}
	return j.catalog.Classify(tool, []hook.Leaf{leaf}, nil, catalog.Places{Project: project, Home: home})
}

// weaker returns the empty string if the catalog says at least as much about a line as a word.
// Otherwise it says what the catalog says instead.
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

// over returns the empty string unless the catalog's strongest effect is stronger than what was
// seen and than what the word allows. Then it says so.
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
