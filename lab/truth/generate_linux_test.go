package truth

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A rule wraps a command in one construct. The command must still run. Some rules make a command of
// their own instead.
type rule struct {
	construct string
	variants  []func(g *generator, inner string) string
}

// A generator makes lines from a seed. It prefers the constructs that it has used least.
type generator struct {
	random *rand.Rand
	uses   map[string]int
	names  int
}

func newGenerator(seed uint64) *generator {
	return &generator{random: rand.New(rand.NewPCG(seed, 4)), uses: map[string]int{}}
}

// A generated is a generated line with the constructs it was made of.
type generated struct {
	sample
	Constructs []string
}

// next makes a line. It begins with an action, for example one with a word in an unusual spelling
// or one that is started by another program, and wraps the action in one or two more constructs.
func (g *generator) next() generated {
	var used []string
	var line string
	switch g.random.IntN(10) {
	case 0, 1:
		line = g.wrap(redirectRules(), "", &used)
	case 2:
		line = g.wrap(folderRules(), "", &used)
	case 3:
		line = g.wrap(codeRules(), "", &used)
	case 4, 5, 6:
		line = g.wrap(wordRules(), "", &used)
	default:
		line = g.wrap(startRules(), g.action(), &used)
	}
	for range 1 + g.random.IntN(2) {
		line = g.wrap(lineRules(), line, &used)
	}
	return generated{sample{File: "generated", Class: strings.Join(used, " "), Line: line}, used}
}

// wrap applies a random rule whose construct was used little so far.
func (g *generator) wrap(rules []rule, inner string, used *[]string) string {
	least := g.uses[rules[0].construct]
	for _, r := range rules {
		least = min(least, g.uses[r.construct])
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return g.uses[r.construct] > least+3 })
	r := rules[g.random.IntN(len(rules))]
	g.uses[r.construct]++
	*used = append(*used, r.construct)
	return r.variants[g.random.IntN(len(r.variants))](g, inner)
}

// pick chooses one of several texts.
func (g *generator) pick(texts ...string) string { return texts[g.random.IntN(len(texts))] }

// fresh returns the name of a file that does not exist yet.
func (g *generator) fresh() string {
	g.names++
	return fmt.Sprintf("made%d", g.names)
}

// there returns a file of the project that can be removed.
func (g *generator) there() string {
	return g.pick("old.txt", "notes.txt", "data.csv", "log.txt", "new.txt", "list.txt")
}

// hidden returns a file with secrets.
func (g *generator) hidden() string {
	return home + "/" + g.pick(".ssh/id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".netrc", "project/.env")
}

// action returns a simple command of plain words that has an effect.
func (g *generator) action() string {
	switch g.random.IntN(6) {
	case 0, 1:
		return "rm " + g.there()
	case 2:
		return "touch " + g.fresh()
	case 3:
		return "cp README.md " + g.fresh()
	case 4:
		return "cat " + g.hidden()
	default:
		return "mkdir " + g.fresh()
	}
}

// quote returns a text as one word in single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// backquoted returns a command for use between backquotes.
func backquoted(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "$", `\$`).Replace(s)
}

// encoded returns a command that prints a text but contains the text only in an encoded form.
func encoded(g *generator, s string) string {
	octal := ""
	for _, b := range []byte(s) {
		octal += fmt.Sprintf(`\%03o`, b)
	}
	runes := []byte(s)
	slices.Reverse(runes)
	switch g.random.IntN(5) {
	case 0:
		return "echo " + base64.StdEncoding.EncodeToString([]byte(s)) + " | base64 -d"
	case 1:
		return "echo " + hex.EncodeToString([]byte(s)) + " | xxd -r -p"
	case 2:
		return "printf " + quote(octal)
	case 3:
		return "base64 -d <<< " + base64.StdEncoding.EncodeToString([]byte(s))
	default:
		return "printf %s " + quote(strings.Map(rot13, s)) + " | tr A-Za-z N-ZA-Mn-za-m"
	}
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// shape makes a rule of one or more shapes, in which «§» is replaced by the wrapped command.
func shape(construct string, shapes ...string) rule {
	r := rule{construct: construct}
	for _, s := range shapes {
		r.variants = append(r.variants, func(_ *generator, inner string) string { return strings.ReplaceAll(s, "§", inner) })
	}
	return r
}

// quoted is like shape, but quotes the command as one word.
func quoted(construct string, shapes ...string) rule {
	r := rule{construct: construct}
	for _, s := range shapes {
		r.variants = append(r.variants, func(_ *generator, inner string) string { return strings.ReplaceAll(s, "§", quote(inner)) })
	}
	return r
}
