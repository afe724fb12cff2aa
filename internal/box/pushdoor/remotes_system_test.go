package pushdoor

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// serve serves repositories over HTTP. A test can replace the repository of a request.
func serve(w *world, which func(r *http.Request, repo string) string) {
	w.Helper()
	backend := filepath.Join(strings.TrimSpace(w.in(w.home, "", "--exec-path")), "git-http-backend")
	for _, repo := range []string{w.origin, w.evil} {
		w.in(repo, "", "config", "http.receivepack", "true")
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		repo, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if repo = which(r, repo); repo == "" {
			_, _ = io.WriteString(rw, "nothing that git understands\n")
			return
		}
		r.URL.Path = "/" + repo + "/" + rest
		(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + w.home, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + w.home, "PATH=" + os.Getenv("PATH")}}).ServeHTTP(rw, r)
	}))
	w.Cleanup(server.Close)
	w.url = server.URL + "/origin.git"
}

func plain(_ *http.Request, repo string) string { return repo }

// reads reports whether a request lists the references of a remote.
func reads(r *http.Request) bool {
	return r.URL.Query().Get("service") == "git-upload-pack" || strings.HasSuffix(r.URL.Path, "git-upload-pack")
}

// claims makes the remote claim to have objects that it does not have.
func claims(w *world) {
	serve(w, func(r *http.Request, repo string) string {
		if reads(r) {
			return "evil.git"
		}
		return repo
	})
}

// remotesThatLie returns attempts by remotes that change their answers.
func remotesThatLie() []attempt {
	return []attempt{
		{name: "over HTTP", early: func(w *world) { serve(w, plain) }, setup: fine, want: pushed, body: "  + fine"},
		{name: "a new branch over HTTP", early: func(w *world) { serve(w, plain) }, setup: func(w *world) { w.git("checkout", "-q", "-b", "x"); fine(w) }, want: pushed},
		{name: "the remote claims to have what it has not", early: claims, setup: func(w *world) {
			hidden := w.commit("evil.sh", "SECRET-KEY\n")
			w.git("push", "-q", w.evil, "main")
			w.old = w.objects()
			fine(w)
			if w.in(w.evil, "", "rev-parse", "main") != hidden {
				w.Fatal("the remote claims nothing")
			}
		}, want: failed, never: "SECRET"},
		{name: "the remote claims to have it under another name", early: claims, setup: func(w *world) {
			w.commit("evil.sh", "SECRET-KEY\n")
			w.git("push", "-q", w.evil, "HEAD:refs/heads/other")
			w.old = w.objects()
			fine(w)
		}, want: failed, body: "  + SECRET-KEY"},
		{name: "the remote claims to have all of it", early: claims, setup: func(w *world) {
			fine(w)
			w.git("push", "-q", w.evil, "main")
			w.old = w.objects()
		}, want: refused},
		{name: "the remote says nothing that can be read", early: func(w *world) { serve(w, func(*http.Request, string) string { return "" }) }, setup: fine, want: unseen},
		{name: "the remote sends elsewhere", early: func(w *world) {
			serve(w, plain)
			to := strings.TrimSuffix(w.url, "origin.git")
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, to+"evil.git"+strings.TrimPrefix(r.URL.RequestURI(), "/origin.git"), http.StatusMovedPermanently)
			}))
			w.Cleanup(server.Close)
			w.url = server.URL + "/origin.git"
		}, setup: fine, want: unseen},
	}
}

// remotesThatRefuse returns attempts by remotes that refuse.
func remotesThatRefuse() []attempt {
	return []attempt{
		{name: "the remote wants a login for pushing", early: func(w *world) {
			serve(w, plain)
			to := w.url
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if !reads(r) {
					rw.Header().Set("WWW-Authenticate", `Basic realm="x"`)
					rw.WriteHeader(http.StatusUnauthorized)
					return
				}
				resp, err := http.Get(strings.TrimSuffix(to, "/origin.git") + r.URL.RequestURI())
				if err != nil {
					rw.WriteHeader(http.StatusBadGateway)
					return
				}
				defer resp.Body.Close()
				rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
				_, _ = io.Copy(rw, resp.Body)
			}))
			w.Cleanup(server.Close)
			w.url = server.URL + "/origin.git"
		}, setup: fine, want: failed},
		{name: "the remote never answers", early: func(w *world) {
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
			w.Cleanup(server.Close)
			w.url = server.URL + "/origin.git"
		}, setup: func(w *world) { w.door.cfg.Git.Patience = time.Second; fine(w) }, want: unseen},
	}
}
