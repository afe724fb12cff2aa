package language

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
)

func effectVerbs() []string {
	return []string{
		"send", "mail", "email", "message", "write", "reply", "answer", "respond", "forward", "share", "invite", "pay", "transfer", "delete",
		"remove", "cancel", "change", "update", "set", "move", "create", "add", "schedule", "book", "save", "post", "text", "list",
	}
}

// wanted reports whether a message asks for anything to be done to a value.
func wanted(l *Lexicon, text, value string) bool {
	var asked []*Request
	for _, r := range l.Requests(text) {
		switch {
		case r.Licenses(effectVerbs()):
			asked = append(asked, r)
		case r.Forbids(effectVerbs()) && !r.Names():
			asked = nil
		}
	}
	return slices.ContainsFunc(asked, func(r *Request) bool { return r.HasAsTarget(value, hook.String, "to") })
}

// Sentences in which an owner names a person and does not ask for anything to
// be sent there, and some in which they do.
func TestOrders(t *testing.T) {
	words := NewLexicon()
	for _, language := range []string{"de", "es", "zh"} {
		for _, kind := range []string{"refused", "granted"} {
			data, err := os.ReadFile(filepath.Join("testdata", "orders", language+"-"+kind+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for line := range strings.Lines(string(data)) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				value, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
				if !ok {
					t.Fatalf("%s: no value in %q", language, line)
				}
				n++
				text = strings.ReplaceAll(text, `\n`, "\n")
				if got := wanted(words, text, value); got != (kind == "granted") {
					t.Errorf("%s %s: %q asks: %v", language, kind, text, got)
				}
			}
			if kind == "refused" && n < 30 {
				t.Errorf("%s: %d sentences, want 30", language, n)
			}
		}
	}
}

// A word that is an order in one language and something else in another asks
// for nothing there, and no sentence is read in two languages.
func TestFalseFriends(t *testing.T) {
	words := NewLexicon()
	const ann = "anna@firm.example"
	for text, want := range map[string]bool{
		"Mail " + ann + " the plan.":              true,
		"Mail von " + ann + " lesen.":             false,
		"Post " + ann + " und mir.":               false,
		"List las facturas de " + ann + ".":       false,
		"Share " + ann + " 文件.":                   false,
		"Send it to " + ann + " und Bert.":        false,
		"Ask Vincent van Gogh. Send it to " + ann: true,
		"Send Ursula von Berg's plan to " + ann:   true,
		"Schicke the mail to " + ann + ".":        false,
		"Envía die Mail a " + ann + ".":           false,
	} {
		if got := wanted(words, text, ann); got != want {
			t.Errorf("%q asks: %v", text, got)
		}
	}
}

// In a message that is not all English capitals make no name, because every German
// noun has one.
func TestTitlesWithoutCapitals(t *testing.T) {
	words := NewLexicon()
	for _, c := range []struct {
		text, title string
		want        bool
	}{
		{"Please delete the Invitation now", "Invitation", true},
		{"Bitte lösche die Einladung jetzt", "Einladung", false},
		{"Bitte lösche die 'Einladung' jetzt", "Einladung", true},
		{"Bitte lösche die Datei plan.txt", "plan.txt", true},
	} {
		if got := slices.Contains(words.Titles(c.text), c.title); got != c.want {
			t.Errorf("%q calls something %q: %v", c.text, c.title, got)
		}
	}
}

func TestAssentsInOtherLanguages(t *testing.T) {
	words := NewLexicon()
	for text, want := range map[string]bool{
		"Ja, bitte.": true, "Genau!": true, "sí, gracias": true, "Vale": true, "好的，谢谢": true, "可以": true,
		"bitte": false, "Genau?": false, "gracias": false, "谢谢": false, "不可以": false, "ja, aber nicht an Bert": false, "好吗": false, "可以？": false,
		"sí a todo": false, "": false,
	} {
		if got := words.Assents(text); got != want {
			t.Errorf("%q assents: %v", text, got)
		}
	}
}

// A message that says no in another language takes back what was asked for.
func TestDenialsTakeBack(t *testing.T) {
	words := NewLexicon()
	for text, want := range map[string]bool{
		"Nein, doch nicht.": true, "Nunca.": true, "别发了": true, "Danke.": false, "未读邮件": false, "Sin duda.": false, "Er sagte 'nicht jetzt'.": false,
	} {
		got := slices.ContainsFunc(words.Requests(text), func(r *Request) bool { return r.Forbids([]string{"send"}) && !r.Names() })
		if got != want {
			t.Errorf("%q takes back: %v", text, got)
		}
	}
}

// In any language a number has its role from a word beside it.
func TestNumbersInOtherLanguages(t *testing.T) {
	for _, c := range []struct {
		text, value, role string
		want              bool
	}{
		{"Lösche die Datei mit der Nummer 4711.", "4711", "file_id", true},
		{"Lösche die Mail mit der Nummer 4711.", "4711", "file_id", false},
		{"borra el archivo número 4711", "4711", "file_id", true},
		{"删除编号为 4711 的文件。", "4711", "file_id", true},
		{"把文件 4711 删除", "4711", "file_id", true},
		{"把邮件 4711 删除", "4711", "file_id", false},
		{"向他转账 120", "120", "amount", true},
		{"文件有一百二十三个字 120", "120", "amount", false},
		{"zahle 45,50 an Bert", "45.5", "amount", true},
		{"Haus 45,50 in Bern", "45.5", "amount", false},
	} {
		var s Stated
		s.Add(c.text)
		if got := s.Has(c.value, hook.String, c.role); got != c.want {
			t.Errorf("%q states %s as %s: %v", c.text, c.value, c.role, got)
		}
	}
}

// What is taken from or compared with something is not the amount.
func TestPlainAmounts(t *testing.T) {
	for text, want := range map[string]bool{
		"Überweise 50 Euro an Bert.":                      true,
		"Überweise 50 Euro von meinen 9000 Euro an Bert.": true,
		"Paga 50 euros de los 9000 euros a Blas.":         true,
		"Paga 9000 euros de los 50 euros a Blas.":         false,
	} {
		got := slices.ContainsFunc(NewLexicon().Requests(text), func(r *Request) bool {
			return r.Licenses([]string{"pay"}) && r.HasAsAmount("50", hook.Number, "amount")
		})
		if got != want {
			t.Errorf("%q: 50 is the amount: %v", text, got)
		}
	}
}

// No message makes the reading panic, and a message that says no asks for nothing in
// any other language.
func FuzzPlainOrders(f *testing.F) {
	f.Add("Lies brief.txt und lade Elke (elke@firma.example) ein: 'x'.", "elke@firma.example")
	f.Add("看完邮件后，在日历里加上“牙医”，给 a@b.example 发邮件。", "a@b.example")
	f.Add("¿Puedes enviar «x» a a@b.example?", "a@b.example")
	words := NewLexicon()
	f.Fuzz(func(t *testing.T, text, value string) {
		for _, r := range words.Requests(text) {
			if !r.Has(value, hook.String, "to") && r.HasAsTarget(value, hook.String, "to") {
				t.Errorf("%q is not stated in %q", value, text)
			}
		}
		for _, r := range words.plainOrders(text+" nicht.", readItems(text+" nicht.")) {
			if r.Licenses(effectVerbs()) && !strings.ContainsAny(text, "\"'`“„«»‘’‚‹›′″´¨") {
				t.Errorf("%q and no", text)
			}
		}
	})
}
