package bundle

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// privateWord begins the text of an author's private key, so that it is not mistaken for the public
// key.
const privateWord = "floodmark-bundle-private-key:"

// NewKey makes an author's key. The secret is the text of a file that only the author can read.
func NewKey(random io.Reader) (secret string, public ed25519.PublicKey, err error) {
	public, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return "", nil, fmt.Errorf("make a key: %w", err)
	}
	return privateWord + base64.StdEncoding.EncodeToString(private.Seed()) + "\n", public, nil
}

// ParsePrivate reads a secret that [NewKey] made. Its errors never contain it.
func ParsePrivate(secret string) (ed25519.PrivateKey, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(secret), privateWord)
	seed, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("read the author's key: it is none («floodmark fleet bundle key» makes one)")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// ParseKey reads a public key in the form of service.yaml.
func ParseKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize || FormatKey(key) != text { // the decoder skips line ends
		return nil, fmt.Errorf("%.60q is no public key (want the line that «floodmark fleet bundle key» shows, 44 characters)", text)
	}
	return key, nil
}

// FormatKey is the inverse of [ParseKey].
func FormatKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }
