package looks

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// of returns the look of a line whose request has these words.
func of(line string, urls []string, words ...string) Look {
	r := shellscan.Report{Understood: true, Parts: []shellscan.Part{{Words: words, Effects: []floodmark.Effect{floodmark.Fetch}}}}
	return Of(&r, line, urls)
}

// A listed command is a look with the listed options and operands and no others.
func TestListed(t *testing.T) {
	for line, want := range map[string]bool{
		"gh issue view 12": true, "gh issue view 12 -c": true, "gh issue view --comments 12": true, "gh run view 12345678901 --log": true, "gh pr view": false, "gh pr checks": false, "glab mr view": false, "gh pr status": false, "gh issue view 12345678": false,
		"gh pr view --json number,title 12": true, "gh pr view --json=number 12": true, "gh issue list -L 5 -s open": true, "git fetch": true, "git fetch -qp origin": true,
		"gh issue view": false, "gh issue view 012": false, "gh issue view 12 13": false, "gh issue view 1234567890123": false, "gh issue view main": false, "gh issue list 4": false,
		"gh issue view 12 -R a/b": false, "gh issue view 12 -cw": false, "gh issue view 12 --": false, "gh issue view 12 -": false, "gh issue view 12 --json": false,
		"gh issue view 12 --json a_b": false, "gh issue list -s mine": false, "gh issue list -L=5": false, "gh issue list -L -s": false, "gh issue view 12 --comments=x": false,
		"kubectl get pods": true, "kubectl get pods web-1 -A -o wide": true, "kubectl get pod/web-1 --namespace=shop": true, "kubectl get": false, "kubectl get secrets": false, "kubectl get pods,secrets": false, "kubectl get secret/a": false,
		"kubectl get pods -s x": false, "kubectl get pods -o jsonpath={}": false, "kubectl get -f x.yaml": false, "kubectl get pods/": false, "kubectl get pods A": false, "kubectl -n a get pods": false,
		"kubectl logs web-1 -p --tail=100": true, "kubectl logs deploy/web -f": true, "kubectl logs secret/web": false, "kubectl logs a b": false, "kubectl logs": false, "kubectl logs a --since=1h": true, "kubectl logs a --since=1y": false,
		"kubectl describe pod web": true, "kubectl describe secret web": false, "kubectl rollout status deploy/web": true, "kubectl rollout undo deploy/web": false, "kubectl diff -f a": false, "kubectl exec web": false,
		"docker compose ps": false, "docker compose logs": false, // the kernel makes these own if it has examined the file
		"gh pr": false, "gh": false, "gh api user": false, "git fetch origin main": true, "git pull -q --rebase": true, "git pull origin master": true, "git pull origin": true, "git fetch origin secret": false, "git pull origin main:x": false, "git pull origin +main": false,
		"git pull main origin": false, "git pull origin main main": false, "git pull origin main topic": false, "git pull --rebase=interactive": false, "git pull -s x": false, "git pull -X theirs": false, "git pull https://a.example main": false, "git pull -S": false, "git fetch a/b": false, "git fetch host:x": false, "git fetch .": false, "git fetch -j 4": false,
	} {
		if got := of(line, nil, strings.Fields(line)...); got.Own != want || got.Plain {
			t.Errorf("%s: %+v", line, got)
		}
	}
}

// The request must be written out in the line, and come first.
func TestWritten(t *testing.T) {
	words := []string{"gh", "issue", "view", "12"}
	for line, want := range map[string]bool{
		"gh issue view 12": true, "  gh issue view '12'": true, "\ngh issue view \"12\" | head": true, "gh issue view 12;ls": true, "gh issue view 12 2>&1": true, "gh issue view 12>a": false,
		"cd /a && gh issue view 12": true, "gh issue view 12 && x $(y)": true,
		"x && gh issue view 12": false, "cd /a || gh issue view 12": false, "cd /a; gh issue view 12": false, "cd && gh issue view 12": false, "gh issue view $N": false, "gh issue view \"$N\"": false,
		"gh issue view `x`": false, "gh issue view 1\\2": false, "gh issue view 1?": false, "gh issue view '12": false, "(gh issue view 12)": false, "! gh issue view 12": false,
		"gh issue view 12 < a": false, "gh issue view 1*": false, "gh issue view ~": false, "gh issue view \u0661": false, "gh issue view 12 > a 13": true, "": false, ";gh issue view 12": false,
	} {
		if got := of(line, nil, words...); got.Own != want {
			t.Errorf("%q: %v", line, got.Own)
		}
	}
}

// Nothing else in the line may send or run something, repeat the request, or change the meaning of
// its words.
func TestBeside(t *testing.T) {
	part := func(words string, effects ...floodmark.Effect) shellscan.Part {
		return shellscan.Part{Words: strings.Fields(words), Effects: effects}
	}
	view := part("gh issue view 12", floodmark.Fetch)
	for name, tc := range map[string]struct {
		change func(*shellscan.Report)
		want   bool
	}{
		"nothing":         {func(*shellscan.Report) {}, true},
		"a filter":        {func(r *shellscan.Report) { r.Parts = append(r.Parts, part("head", floodmark.Observe)) }, true},
		"a file":          {func(r *shellscan.Report) { r.Effects = []shellscan.Effect{{Kind: shellscan.Write}} }, true},
		"a second one":    {func(r *shellscan.Report) { r.Parts = append(r.Parts, view) }, false},
		"a run":           {func(r *shellscan.Report) { r.Parts = append(r.Parts, part("sh", floodmark.Run)) }, false},
		"a send":          {func(r *shellscan.Report) { r.Parts = append(r.Parts, part("mail", floodmark.Send)) }, false},
		"keys":            {func(r *shellscan.Report) { r.Effects = []shellscan.Effect{{Kind: shellscan.Environment}} }, false},
		"code":            {func(r *shellscan.Report) { r.Effects = []shellscan.Effect{{}} }, false},
		"a loop":          {func(r *shellscan.Report) { r.Loops = true }, false},
		"a variable":      {func(r *shellscan.Report) { r.Sets = []string{"GH_HOST"} }, false},
		"a function":      {func(r *shellscan.Report) { r.Defines = true }, false},
		"a doubt":         {func(r *shellscan.Report) { r.Understood = false }, false},
		"a fetched shell": {func(r *shellscan.Report) { r.NetworkIntoInterpreter = true }, false},
		"a shell":         {func(r *shellscan.Report) { r.InteractiveShell = true }, false},
		"no request":      {func(r *shellscan.Report) { r.Parts = nil }, false},
	} {
		r := shellscan.Report{Understood: true, Parts: []shellscan.Part{view}}
		tc.change(&r)
		if got := Of(&r, "gh issue view 12", nil).Own; got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if of("gh issue view 12", []string{"https://a.example"}, view.Words...).Own {
		t.Error("a line with an address")
	}
}

// A request of curl reveals only its addresses. To a service of this machine it may contain only a
// short path.
func TestCurl(t *testing.T) {
	const here = "http://127.0.0.1:4100"
	for args, want := range map[string]Look{
		"-s https://a.example/b": {Plain: true}, "-fsSL https://a.example/b": {Plain: true}, "https://a.example/b https://b.example/c": {Plain: true},
		"-o x -m 5 https://a.example/b": {Plain: true}, "-s " + here + "/a": {Plain: true, Own: true}, "-s " + here: {Plain: true, Own: true}, "-s localhost:80/a/b.json": {Plain: true, Own: true},
		"-s http://[::1]/a": {}, "-L " + here + "/a": {Plain: true}, "--location " + here + "/a": {Plain: true}, here + "/a https://a.example": {Plain: true},
		here + "//a": {Plain: true}, here + "/a.example/b": {Plain: true}, here + "/a/b/c/d/e": {Plain: true}, here + "/" + strings.Repeat("a", 25): {Plain: true}, here + "/%61%2f": {Plain: true},
		here + "/a#b": {Plain: true}, "http://u@127.0.0.1/a": {}, "-s https://A.example/b": {}, "-s HTTPS://a.example/b": {}, "http://127.0.0.1.a.example/a": {Plain: true},
		"-I https://a.example/b": {}, "-k https://a.example/b": {}, "-A x https://a.example/b": {}, "-sx https://a.example https://b.example": {}, "a.example": {}, "ftp://127.0.0.1/a": {},
		"-o -s https://a.example": {}, "-s": {}, "file:///a": {},
	} {
		words := strings.Fields(args)
		var urls []string
		for _, w := range words {
			if strings.Contains(w, "://") || strings.HasPrefix(w, "localhost") {
				urls = append(urls, w)
			}
		}
		if got := of("curl "+args, urls, append([]string{"curl"}, words...)...); got != want {
			t.Errorf("%s: %+v, want %+v", args, got, want)
		}
	}
	if got := of("curl -s 'http://127.0.0.1/a?b'", []string{"http://127.0.0.1/a?b"}, "curl", "-s", "http://127.0.0.1/a?b"); got.Own {
		t.Error("a query")
	}
	if got := of("curl -s https://a.example", []string{"https://b.example"}, "curl", "-s", "https://a.example"); got.Plain {
		t.Error("another address")
	}
}

// A request to docker compose is a look at this machine if the compose file names no other file.
func TestComposes(t *testing.T) {
	for line, want := range map[string]bool{
		"docker compose ps": true, "docker compose ps web -a": true, "docker compose logs -f --tail 50 web db": true, "docker compose logs --since=10m": true, "docker compose top": true, "docker compose images -q": true, "docker compose ls": true,
		"docker compose": false, "docker compose up": false, "docker compose config": false, "docker compose -f x logs": false, "docker compose -p x ps": false, "docker compose ps -f x": false, "docker compose logs --tail x": false,
		"docker compose logs Web": false, "docker compose logs ../x": false, "docker compose exec web": false, "docker-compose logs": false, "cd /a && docker compose ps": false, "docker compose ps --format={{.}}": false,
	} {
		words := strings.Fields(strings.TrimPrefix(line, "cd /a && "))
		if got := of(line, nil, words...); got.Compose != want || got.Own || got.Plain || want != (len(got.Obeys("/h")) > 0) {
			t.Errorf("%s: %+v", line, got)
		}
	}
	if of("docker compose ps", []string{"https://a.example"}, "docker", "compose", "ps").Compose {
		t.Error("a line with an address")
	}
}
