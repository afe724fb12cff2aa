package console

import (
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// files are the built pages. A file whose name ends in .gz is stored compressed and served as the
// file without that ending. The programs' own memory holds them as they are on disk.
//
//go:embed dist
var files embed.FS

// hashDigits is how many characters Vite puts behind the last hyphen of a name.
const hashDigits = 8

// hashed reports whether a file's name says its content, so that a browser may keep it.
func hashed(name string) bool {
	base := strings.TrimSuffix(name, path.Ext(name))
	at := len(base) - hashDigits - 1
	return strings.HasPrefix(name, "assets/") && at > 0 && base[at] == '-'
}

// kinds are the content types of all files there can be.
func kinds() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".json": "application/json", ".woff2": "font/woff2",
		".txt": "text/plain; charset=utf-8",
	}
}

// servePage serves one of the built files.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if r.URL.Path == pagePath {
		name = "index.html"
	}
	kind := kinds()[path.Ext(name)]
	if kind == "" || !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	f, err := files.Open("dist/" + name + ".gz")
	packed := err == nil
	if !packed {
		f, err = files.Open("dist/" + name)
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	if hashed(name) {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	var content io.Reader = f
	switch {
	case packed && takesGzip(r):
		w.Header().Set("Content-Encoding", "gzip")
		fallthrough
	case !packed:
		if info, err := f.Stat(); err == nil {
			w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
		}
	default:
		if content, err = gzip.NewReader(f); err != nil {
			http.Error(w, "a file of the console cannot be read", http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Vary", "Accept-Encoding")
	_, _ = io.Copy(w, content) // the page may be gone
}

// takesGzip reports whether a browser unpacks a file itself.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, "gzip") && strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
