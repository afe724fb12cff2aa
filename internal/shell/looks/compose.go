package looks

import (
	_ "embed" // for the lists of words
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed services.txt
var words string

// The lines of services.txt.
const (
	fileKeys = iota
	serviceKeys
	clusterKinds
)

// wordsOf returns the words of one line of services.txt.
func wordsOf(line int) []string {
	text := words[strings.LastIndex(words, "# "):]
	return strings.Fields(strings.Split(text, "\n")[line+1])
}

// Composed reports whether docker compose reads its services from a single file that names no other
// one. Otherwise a file could include another one from any address with variables of the
// environment in it, and even a request for a log would send their values to that host. Read
// returns the text of a file in the folder, and whether it exists; ok is false if that is not
// known.
func Composed(read func(name string) (text string, there, ok bool)) bool {
	files := 0
	for _, name := range []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"} {
		for _, override := range []string{"", ".override"} {
			base, end, _ := strings.Cut(name, ".")
			text, there, ok := read(base + override + "." + end)
			if !ok || there && !services(text) {
				return false
			}
			if there && override == "" {
				files++
			}
		}
	}
	settings, _, ok := read(".env")
	settings = strings.ToUpper(settings)
	return ok && files == 1 && !strings.Contains(settings, "COMPOSE") && !strings.Contains(settings, "DOCKER")
}

// services reports whether every key of a compose file is listed in services.txt.
func services(text string) bool {
	if strings.Contains(text, "!") { // a tag, with which one file can remove values of another
		return false
	}
	var file, more map[string]any
	d := yaml.NewDecoder(strings.NewReader(text))
	if d.Decode(&file) != nil || !errors.Is(d.Decode(&more), io.EOF) {
		return false
	}
	for key := range file {
		if !slices.Contains(wordsOf(fileKeys), key) && !strings.HasPrefix(key, "x-") {
			return false
		}
	}
	list, ok := file["services"].(map[string]any)
	for _, value := range list {
		service, known := value.(map[string]any)
		ok = ok && known
		for key := range service {
			ok = ok && (slices.Contains(wordsOf(serviceKeys), key) || strings.HasPrefix(key, "x-"))
		}
	}
	return ok
}
