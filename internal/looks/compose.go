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

// The lines of that file.
const (
	fileKeys = iota
	serviceKeys
	clusterKinds
)

// wordsOf are the words of one of its lines.
func wordsOf(line int) []string {
	text := words[strings.LastIndex(words, "# "):]
	return strings.Fields(strings.Split(text, "\n")[line+1])
}

// Composed reports whether docker compose, in a folder whose files are read by their names, learns its
// services from one file that names no other. A file may include another one from any address, with
// variables of the environment in it: then asking for a log tells that host what they hold.
// What is not there is no file of it, and of what cannot be read nothing is known.
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

// services reports a file for docker compose of which every key is listed.
func services(text string) bool {
	if strings.Contains(text, "!") { // tags, by which one file takes away what another says
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
