package catalog

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// The names of published packages, without versions, options and files.
func TestPackages(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string][]string{
		"npm install":                         nil,
		"npm install left-pad":                {"left-pad"},
		"npm i -D left-pad@1.2.3 right-pad":   {"left-pad", "right-pad"},
		"npm install @scope/x@1.0":            {"@scope/x"},
		"npm install @scope/x":                {"@scope/x"},
		"npx create-thing":                    {"create-thing"},
		"pip install requests==2.0 'a[b]>=1'": {"requests", "a"},
		"pip install 'x<2' 'y~=1' 'z!=3'":     {"x", "y", "z"},
		"pip install -r requirements.txt":     nil,
		"pip install --requirement r.txt x":   {"x"},
		"pip install -c limits.txt x":         {"x"},
		"pip install --constraint l.txt x":    {"x"},
		"pip install -e sub x":                {"x"},
		"pip install --editable sub":          nil,
		"pip install .":                       nil,
		"pip install ./sub ../x /q/y ~/z":     nil,
		"pip install https://a.example/x":     {"https://a.example/x"},
		"python3 -m pip install x":            {"x"},
		"go get a.example/x@latest":           {"a.example/x"},
		"go install a.example/x@v1":           {"a.example/x"},
		"go run .":                            nil,
		"go run ./cmd/x y":                    nil,
		"go run main.go":                      nil,
		"go run cmd/x a.example/y":            nil,
		"go run ./x a.example/y":              nil,
		"go run a.example/x@v1 b.example/y":   {"a.example/x"},
		"go run -race a.example/x":            {"a.example/x"},
		"go test ./... && npm install a":      {"a"},
		"npm install a; pip install b":        {"a", "b"},
		"ls a":                                nil,
		"npm test":                            nil,
		"apt-get install -y jq":               {"jq"},
	} {
		if u := shell(t, c, line); !slices.Equal(u.Found.Things(floodmark.FetchesPackage), want) {
			t.Errorf("%q: %q, want %q", line, u.Found, want)
		}
	}
}

// A line may work without a network if what fetches in it also uses local copies, and it names
// neither an address nor a package.
func TestOffline(t *testing.T) {
	c := shipped(t)
	for line, want := range map[string]bool{
		"sed -i s/a/b/ a.go && gofmt -w . && go mod tidy && make build 2>&1 | tail -3":       true,
		"grep -rn x src | head; npm uninstall x 2>&1 | tail -2; npm test; git commit -qam x": true,
		"npm ci":                              true,
		"npm install":                         true,
		"pnpm install --offline":              true,
		"pip install -r requirements.txt":     true,
		"uv sync && pytest":                   true,
		"bundle install":                      true,
		"cargo update":                        true,
		"go test ./...":                       true,
		"npm install left-pad":                false,
		"go get example.org/commas@latest":    false,
		"npx cowsay":                          false,
		"npm ci --registry=https://r.example": false,
		"npm ci --registry https://r.example": false,
		"pip install -r r.txt -i https://r.example/simple": false,
		"npm ci; curl https://a.example":                   false,
		"git fetch && go test ./...":                       false,
		"git pull && npm ci":                               false,
		"npm outdated; npm test":                           false,
		"gh pr list; npm test":                             false,
		"dig a.example; npm ci":                            false,
		"$X; npm ci":                                       false,
		"npm ci && $(cat a)":                               false,
		"node server.js & sleep 1; curl -s http://127.0.0.1:4100/total; kill %1": true,
		"npm start & curl -s http://localhost:3000/":                             true,
		"npm start & curl -s http://127.0.0.1:3000/ https://a.example":           false,
		"npm start & curl -s http://localhost.a.example/":                        false,
		"npm start & curl -s http://127.0.0.1@a.example/":                        false,
		"npm start & curl -sx http://127.0.0.1:3128 https://a.example":           false,
		"npm start & curl -s http://10.0.0.1/":                                   false,
	} {
		if u := shell(t, c, line); u.Offline != want {
			t.Errorf("%q: %v (effects %v, found %q, addresses %q)", line, u.Offline, u.Effects, u.Found, u.URLs)
		}
	}
}
