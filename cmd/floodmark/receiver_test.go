package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// receiver starts a system that answers webhooks, and writes the service.yaml that
// names it: «receiver FILE STATUS TEXT [SETTING]…».
func (*scripts) receiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: receiver FILE STATUS TEXT [SETTING]…")
	}
	var code int
	_, err := fmt.Sscan(args[1], &code)
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Webhook-Id") == "" || r.Header.Get("Webhook-Timestamp") == "" {
			code = http.StatusUnauthorized
		}
		w.WriteHeader(code)
		fmt.Fprint(w, args[2])
	}))
	ts.Defer(s.Close)
	text := "verifier:\n  webhook:\n    url: " + s.URL + "/verify\n"
	for _, line := range args[3:] {
		text += "    " + line + "\n"
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
