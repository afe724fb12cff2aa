package looks

import "testing"

// If a compose file names another file, or could, docker compose may read more than this file.
func TestComposed(t *testing.T) {
	const good = "services: {db: {image: a}}"
	for name, tc := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"one":              {map[string]string{"compose.yaml": good}, true},
		"a merge":          {map[string]string{"compose.yml": "x-a: &a {image: b}\nservices: {db: {<<: *a}}"}, true},
		"an override":      {map[string]string{"docker-compose.yml": good, "docker-compose.override.yml": good}, true},
		"variables":        {map[string]string{"compose.yaml": good, ".env": "DB=a\n"}, true},
		"none":             {map[string]string{}, false},
		"only an override": {map[string]string{"compose.override.yaml": good}, false},
		"two":              {map[string]string{"compose.yaml": good, "docker-compose.yml": good}, false},
		"nothing":          {map[string]string{"compose.yaml": ""}, false},
		"no YAML":          {map[string]string{"compose.yaml": "services: {"}, false},
		"a second text":    {map[string]string{"compose.yaml": good + "\n---\ninclude: [x]"}, false},
		"an include":       {map[string]string{"compose.yaml": good + "\ninclude: [x]"}, false},
		"a merged include": {map[string]string{"compose.yaml": "x-a: &a {include: [x]}\n<<: *a\n" + good}, false},
		"an extends":       {map[string]string{"compose.yaml": "services: {db: {extends: {file: x}}}"}, false},
		"a merged extends": {map[string]string{"compose.yaml": "x-a: &a {extends: {file: x}}\nservices: {db: {<<: *a}}"}, false},
		"a new key":        {map[string]string{"compose.yaml": "services: {db: {provider: x}}"}, false},
		"a service":        {map[string]string{"compose.yaml": "services: {db: x}"}, false},
		"a tag":            {map[string]string{"compose.yaml": "services: !override {db: {image: a}}"}, false},
		"its override":     {map[string]string{"compose.yaml": good, "compose.override.yml": "include: [x]\n" + good}, false},
		"its settings":     {map[string]string{"compose.yaml": good, ".env": "A=b\nexport compose_file = x"}, false},
		"another docker":   {map[string]string{"compose.yaml": good, ".env": "DOCKER_HOST: x"}, false},
		"no settings":      {map[string]string{"compose.yaml": good, ".env": "\x00"}, false},
	} {
		got := Composed(func(name string) (string, bool, bool) {
			text, there := tc.files[name]
			return text, there, text != "\x00"
		})
		if got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
