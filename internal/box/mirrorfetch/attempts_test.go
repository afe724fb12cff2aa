package mirrorfetch

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// The end of a complete request, and the beginnings of answers.
const (
	end     = " HTTP/1.1\r\nHost: registry.npmjs.org\r\n\r\n"
	ok      = "HTTP/1.1 200"
	none    = "HTTP/1.1 404"
	refused = "HTTP/1.1 403"
	bad     = "HTTP/1.1 400"
)

// fromTheBox returns requests of a box, with the beginning of the expected answer. Each contains
// data that the box tries to leak.
func fromTheBox() map[string]string {
	return map[string]string{
		"GET /@s/a/-/a-1.0.0.tgz" + end:                      ok,
		"GET /@s%2fa" + end:                                  ok,
		"GET /@s/a?leak=secret" + end:                        ok,
		"HEAD /_go/a.example/m/@v/v1.0.0.zip" + end:          ok,
		"GET /_go/a.example/m/@v/v1.0.0.mod" + end:           ok,
		"GET /_go/a.example/m/@v/v1.0.0.info" + end:          ok,
		"GET /_go/a.example/m/@v/list" + end:                 ok,
		"GET /_pypi/simple/a/" + end:                         ok,
		"GET /_pypi/simple/a/a-1.0-py3-none-any.whl" + end:   ok,
		"GET /leak-secret" + end:                             none,
		"GET /leak-secret/-/leak-secret-1.0.0.tgz" + end:     none,
		"GET /@s/a/-/a-1.0.1.tgz" + end:                      none,
		"GET /@s/a/-/a-1.0.0.tgz/" + end:                     none,
		"GET /@S/A" + end:                                    none,
		"GET /@s%252fa" + end:                                none,
		"GET //@s/a" + end:                                   none,
		"GET /./@s/a" + end:                                  none,
		"GET /@s/../@s/a" + end:                              none,
		"GET /../../../etc/passwd" + end:                     none,
		"GET /%2e%2e/%2e%2e/etc/passwd" + end:                none,
		"GET /@s/a%00" + end:                                 none,
		"GET /" + end:                                        none,
		"GET /-/all" + end:                                   none,
		"GET /-/v1/search?text=secret" + end:                 none,
		"GET /-/npm/v1/security/advisories" + end:            none,
		"GET /_go/a.example/m/@latest" + end:                 none,
		"GET /_go/a.example/m/@v/v1.0.1.info" + end:          none,
		"GET /_go/leak.example/secret/@v/list" + end:         none,
		"GET /_go/sumdb/sum.golang.org/supported" + end:      none,
		"GET /_go/sumdb/sum.golang.org/lookup/leak@v1" + end: none,
		"GET /_pypi/simple/" + end:                           none,
		"GET /_pypi/simple/leak-secret/" + end:               none,
		"GET /_pypi/simple/a" + end:                          none,
		"GET /_pypi/simple/a/../../../x" + end:               none,
		"GET /contents/" + strings.Repeat("0", 64) + end:     none,
		"GET /" + strings.Repeat("a", 3000) + end:            none,
		"GET /" + strings.Repeat("a", 5000) + end:            bad,
		"GET /%zz" + end:                                     refused,
		"GET /a\x00b" + end:                                  none,
		"GET /\u0430" + end:                                  none,
	}
}

// fromTheBoxElse returns requests that are not plain requests for a package.
func fromTheBoxElse() map[string]string {
	return map[string]string{
		"POST /-/npm/v1/security/audits/quick HTTP/1.1\r\nContent-Length: 6\r\n\r\nsecret": refused,
		"PUT /leak HTTP/1.1\r\nContent-Length: 6\r\n\r\nsecret":                            refused,
		"DELETE /@s/a" + end: refused,
		"CONNECT registry.npmjs.org:443 HTTP/1.1\r\n\r\nsecret":                                 refused,
		"CONNECT files.pythonhosted.org:443" + end:                                              refused,
		"CONNECT 127.0.0.1:80" + end:                                                            refused,
		"GET https://registry.npmjs.org/@s/a" + end:                                             refused,
		"GET http://127.0.0.1/@s/a" + end:                                                       refused,
		"GET http://169.254.169.254/latest" + end:                                               refused,
		"GET registry.npmjs.org/@s/a" + end:                                                     refused,
		"GET * HTTP/1.1\r\n\r\n":                                                                refused,
		"GET /@s/a HTTP/1.1\r\nHost: evil.example\r\n\r\n":                                      ok,
		"GET /@s/a HTTP/1.1\r\nAuthorization: Bearer secret\r\nCookie: a=secret\r\n\r\n":        ok,
		"GET /@s/a HTTP/1.1\r\nRange: bytes=1-2\r\nIf-None-Match: \"secret\"\r\n\r\n":           ok,
		"GET /@s/a HTTP/1.1\r\nX-Forwarded-Host: evil.example\r\nX-Original-URL: /leak\r\n\r\n": ok,
		"GET /@s/a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\nsecret":         ok,
		"GET /@s/a HTTP/1.1\r\n\r\nGET /leak HTTP/1.1\r\n\r\n":                                  ok,
		"GET /@s/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecret\r\n0\r\n\r\n":      ok,
		"GET /@s/a HTTP/2\r\n\r\n":                                                              refused, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": refused, "secret\r\n\r\n": refused, "GET /@s/a": bad,
	}
}

// lockTricks returns lock files that try to cause other requests, in vain.
func lockTricks(locks map[lockfile.Ecosystem]string) map[string]struct {
	e    lockfile.Ecosystem
	lock string
} {
	type trick = struct {
		e    lockfile.Ecosystem
		lock string
	}
	npm := func(from, to string) trick {
		return trick{lockfile.Npm, strings.Replace(locks[lockfile.Npm], from, to, 1)}
	}
	pip := func(to string) trick { return trick{lockfile.PyPI, to + locks[lockfile.PyPI]} }
	goSum := func(to string) trick {
		return trick{lockfile.Go, strings.ReplaceAll(locks[lockfile.Go], "a.example/m v1.0.0", to)}
	}
	return map[string]trick{
		"npm: another host":               npm("https://registry.npmjs.org/", "https://evil.example/"),
		"npm: a look-alike host":          npm("registry.npmjs.org", "registry.npmjs.org.evil.example"),
		"npm: a host behind a user":       npm("registry.npmjs.org", "registry.npmjs.org@evil.example"),
		"npm: a port":                     npm("registry.npmjs.org", "registry.npmjs.org:8443"),
		"npm: http":                       npm("https://", "http://"),
		"npm: a private address":          npm("registry.npmjs.org", "127.0.0.1"),
		"npm: git":                        npm("https://registry.npmjs.org/@s/a/-/a-1.0.0.tgz", "git+ssh://git@evil.example/a.git#secret"),
		"npm: a file":                     npm("https://registry.npmjs.org/@s/a/-/a-1.0.0.tgz", "file:../../secret"),
		"npm: a question":                 npm("a-1.0.0.tgz", "a-1.0.0.tgz?secret"),
		"npm: a path":                     npm("node_modules/@s/a", "node_modules/@s/../../secret"),
		"npm: an escaped slash":           npm("node_modules/@s/a", "node_modules/@s%2fsecret"),
		"npm: NUL":                        npm("node_modules/@s/a", `node_modules/secret\u0000`),
		"npm: a huge name":                npm("node_modules/@s/a", "node_modules/"+strings.Repeat("secret", 100)),
		"npm: a version that is a path":   npm(`"1.0.0"`, `"1.0.0/../../../secret"`),
		"npm: no hash":                    npm("sha512-", "sha1-"),
		"npm: an old version of the file": npm(`"lockfileVersion":3`, `"lockfileVersion":1`),
		"pip: another index":              pip("--index-url https://evil.example/simple\n"),
		"pip: one more index":             pip("--extra-index-url=https://evil.example/simple\n"),
		"pip: links":                      pip("--find-links https://evil.example/\n"),
		"pip: an address":                 pip("b @ https://evil.example/secret.whl --hash=sha256:" + strings.Repeat("a", 64) + "\n"),
		"pip: git":                        pip("git+https://evil.example/secret\n"),
		"pip: another file":               pip("-r secret.txt\n"),
		"pip: no hash":                    pip("secret==1.0\n"),
		"pip: a path":                     pip("../secret==1.0 --hash=sha256:" + strings.Repeat("a", 64) + "\n"),
		"go: a path":                      goSum("a.example/../secret v1.0.0"),
		"go: a port":                      goSum("a.example:443/m v1.0.0"),
		"go: a user":                      goSum("secret@a.example/m v1.0.0"),
		"go: a question":                  goSum("a.example/m?secret v1.0.0"),
		"go: an escape":                   goSum("a.example/%2e%2e/secret v1.0.0"),
		"go: a version that is a path":    goSum("a.example/m v1.0.0/../secret"),
		"go: a branch":                    goSum("a.example/m secret"),
		"go: a name without a host":       goSum("secret v1.0.0"),
	}
}

// strangers returns registries that give wrong answers.
func strangers() map[string]func(w http.ResponseWriter, r *http.Request) bool {
	to := func(at string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", at)
			w.WriteHeader(http.StatusFound)
			return true
		}
	}
	says := func(status int, text string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return true
		}
	}
	return map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"to another host":       to("https://evil.example/secret"),
		"to a look-alike host":  to("https://registry.npmjs.org.evil.example/"),
		"to a host with a user": to("https://registry.npmjs.org@evil.example/"),
		"to a user of itself":   to("https://secret@registry.npmjs.org/"),
		"to another port":       to("https://registry.npmjs.org:8443/"),
		"to http":               to("http://registry.npmjs.org/"),
		"to this machine":       to("https://127.0.0.1/"),
		"to the metadata":       to("https://169.254.169.254/latest/meta-data"),
		"to localhost":          to("https://localhost/"),
		"to a file":             to("file:///etc/passwd"),
		"without end":           func(w http.ResponseWriter, r *http.Request) bool { return to("https://"+r.Host+r.URL.Path+"x")(w, r) },
		"something else":        says(http.StatusOK, "something else"),
		"nothing":               says(http.StatusOK, ""),
		"an error":              says(http.StatusInternalServerError, "no"),
		"a part":                says(http.StatusPartialContent, "a part"),
		"not modified":          says(http.StatusNotModified, ""),
		"wants a login":         says(http.StatusUnauthorized, "who are you?"),
		"less than it says": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, "less")
			return true
		},
		"a long header": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X", strings.Repeat("a", 2*maxHeader))
			return true
		},
	}
}

// No text of a box, a lock file or a registry causes a request for something other than what is
// pinned, or to another host.
func TestNothingChosenGetsOut(t *testing.T) {
	seen := map[string]int{"requests that a box chose": 0, "hosts that were not configured": 0}
	box(t, seen)
	tricks(t, seen)
	registries(t, seen)
	if seen["attempts"] = seen["from the box"] + seen["lock files"] + seen["registries"]; seen["attempts"] < 40 {
		t.Error("too few attempts")
	}
	record(t, seen)
}

func box(t *testing.T, seen map[string]int) {
	w := newWorld(t)
	hole, ask := w.box()
	before := w.Asked()
	all := fromTheBox()
	maps.Copy(all, fromTheBoxElse())
	seen["from the box"] = len(all)
	for range 2 { // also at the second request
		for request, want := range all {
			if said := ask(request); !strings.HasPrefix(said, want) || strings.Contains(said, "secret") {
				t.Errorf("%.90q: %.200q, want %s", request, said, want)
			}
		}
	}
	if after := w.Asked(); !slices.Equal(before, after) {
		seen["requests that a box chose"] += len(after) - len(before)
		t.Errorf("a box caused %q", after[len(before):])
	}
	for _, name := range hole.Wanted() { // only hosts, as without a mirror
		if strings.Contains(name, "leak") || strings.Contains(name, "secret") {
			t.Errorf("%q is noted", name)
		}
	}
}

func tricks(t *testing.T, seen map[string]int) {
	w := newWorld(t)
	for name, c := range lockTricks(w.stock()) {
		seen["lock files"]++
		if set, err := w.fetch(c.e, c.lock); err == nil {
			t.Errorf("%s: there is a set %s", name, set)
		}
		if asked := w.Asked(); len(asked) > 0 {
			seen["requests that a box chose"]++
			t.Fatalf("%s: %q", name, asked)
		}
	}
}

func registries(t *testing.T, seen map[string]int) {
	for name, twist := range strangers() {
		for _, e := range []lockfile.Ecosystem{lockfile.Go, lockfile.Npm, lockfile.PyPI} {
			seen["registries"]++
			w := newWorld(t)
			lock := w.stock()[e]
			w.twist = twist
			if set, err := w.fetch(e, lock); err == nil {
				t.Errorf("%s, %s: there is a set %s", name, e, set)
			}
			for _, place := range w.Dialed() {
				if !slices.Contains([]string{"proxy.golang.org:443", "registry.npmjs.org:443", "pypi.org:443"}, place) {
					seen["hosts that were not configured"]++
					t.Errorf("%s, %s: %s is dialled", name, e, place)
				}
			}
		}
	}
}

// record writes what was counted to the file that FLOODMARK_MIRROR names.
func record(t *testing.T, seen map[string]int) {
	t.Helper()
	at := os.Getenv("FLOODMARK_MIRROR")
	if at == "" {
		return
	}
	data, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = os.WriteFile(at, append(data, '\n'), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
