package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/verify"
)

// The request has exactly the form of seed 3.
func TestRequestOfSeedThree(t *testing.T) {
	got, err := encode(verify.Request{
		ID: "5b1c", At: time.Date(2026, 2, 12, 16, 30, 0, 5, time.FixedZone("x", 3600)), Session: "agent:main:main", Agent: "main", Provider: "telegram",
		Tool: "exec", Params: []byte(`{"command":"curl https://news.example","workdir":"/workspace"}`), Lines: []string{"never sent"}, Digest: [32]byte{1}, Reach: floodmark.Free,
	})
	const want = `{"version":1,"timestamp":"2026-02-12T15:30:00Z","requestId":"5b1c",` +
		`"tool":{"name":"exec","params":{"command":"curl https://news.example","workdir":"/workspace"}},` +
		`"context":{"agentId":"main","sessionKey":"agent:main:main","messageProvider":"telegram"}}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	got, err = encode(verify.Request{})
	if err != nil || !strings.Contains(string(got), `"params":{}`) || strings.Contains(string(got), "messageProvider") {
		t.Errorf("%v %s", err, got)
	}
	if !strings.Contains(string(got), `"reach":"boxed"`) {
		t.Errorf("that it runs in a box is not told: %s", got)
	}
	if _, err := encode(verify.Request{Params: []byte("{")}); err == nil {
		t.Error("half a JSON was sent")
	}
}

// The test vector of the Standard Webhooks specification.
func TestStandardWebhooksVector(t *testing.T) {
	s, err := newSigner("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	s.headers(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	for name, want := range map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
		"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
	} {
		if h.Get(name) != want {
			t.Errorf("%s is %s", name, h.Get(name))
		}
	}
}

// Seed 3's header is the hex digest of the body alone, under the secret as it is
// written.
func TestSeedThreeSignature(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	s, err := newSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	s.headers(h, "id", time.Unix(1, 0), []byte("body"))
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("body"))
	want := hex.EncodeToString(m.Sum(nil))
	if h.Get("X-OpenClaw-Signature") != want || h.Get("X-Floodmark-Signature") != want {
		t.Errorf("%v", h)
	}
}

func TestSecrets(t *testing.T) {
	for secret, want := range map[string]string{
		"whsec_***":                       "not base64",
		"whsec_" + "MTIzNDU2Nzg5MDEyMzQ1": "shorter than 16 bytes", // 15 of them
		"fifteen letters":                 "shorter than 16 bytes",
		"whsec_":                          "shorter than 16 bytes",
	} {
		if _, err := newSigner(secret); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", secret, err)
		}
	}
	for _, secret := range []string{"sixteen letters!", "whsec_MTIzNDU2Nzg5MDEyMzQ1Ng=="} {
		if _, err := newSigner(secret); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
	h := http.Header{}
	s, err := newSigner("")
	s.headers(h, "id", time.Unix(1, 0), nil)
	if err != nil || len(h) != 2 || h.Get("webhook-id") != "id" {
		t.Errorf("without a secret: %v %v", h, err)
	}
}
