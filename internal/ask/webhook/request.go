package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/verify"
)

// A request is the JSON that receivers get. Fields are never renamed or given another meaning:
// existing receivers rely on them.
type request struct {
	Version   int    `json:"version"`
	Timestamp string `json:"timestamp"`
	RequestID string `json:"requestId"`
	Tool      tool   `json:"tool"`
	Context   origin `json:"context"`
}

type tool struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

type origin struct {
	AgentID         string `json:"agentId"`
	SessionKey      string `json:"sessionKey"`
	MessageProvider string `json:"messageProvider,omitempty"`
	// Reach is "boxed" if the call runs in a box, and otherwise empty.
	Reach string `json:"reach,omitempty"`
}

func encode(r verify.Request) ([]byte, error) {
	params := r.Params
	if len(params) == 0 {
		params = []byte("{}")
	}
	reach := ""
	if r.Reach == floodmark.Boxed {
		reach = r.Reach.String()
	}
	return json.Marshal(request{
		Version: 1, Timestamp: r.At.UTC().Format(time.RFC3339), RequestID: r.ID,
		Tool:    tool{Name: r.Tool, Params: params},
		Context: origin{AgentID: r.Agent, SessionKey: r.Session, MessageProvider: r.Provider, Reach: reach},
	})
}

// A signer signs requests; the zero signer does not.
type signer struct {
	// plain is the key for the signature of the body: the secret as written. standard is the key
	// for the signature of Standard Webhooks: the decoded text after whsec_, or else the secret as
	// written.
	plain, standard []byte
}

// leastSecret is the minimum length of a secret: a shorter one can be guessed.
const leastSecret = 16

func newSigner(secret string) (signer, error) {
	if secret == "" {
		return signer{}, nil
	}
	s := signer{plain: []byte(secret), standard: []byte(secret)}
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return signer{}, errors.New("the secret begins with whsec_, but what follows is not base64")
		}
		s.standard = key
	}
	if len(s.standard) < leastSecret {
		return signer{}, fmt.Errorf("the secret is shorter than %d bytes and could be guessed (make one: openssl rand -base64 32)", leastSecret)
	}
	return s, nil
}

// headers signs one try. The id stays the same over all retries of one request; the time changes
// with each, so that a receiver can refuse old requests.
func (s signer) headers(h http.Header, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	h.Set(headerID, id)
	h.Set(headerTime, seconds)
	if len(s.plain) == 0 {
		return
	}
	sum := hex.EncodeToString(mac(s.plain, body))
	h.Set(headerSeed, sum)
	h.Set(headerOurs, sum)
	h.Set(headerSignature, "v1,"+base64.StdEncoding.EncodeToString(mac(s.standard, []byte(id), []byte("."), []byte(seconds), []byte("."), body)))
}

func mac(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}
