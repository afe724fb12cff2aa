package journal

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Key signs checkpoints and tombstones (Ed25519).
type Key struct {
	Signer   note.Signer
	Verifier note.Verifier
	// Public is the public key, in the form of signed notes.
	Public string
}

// NewKey makes a key. The name is that of the log, such as «floodmark.example/laptop». The secret
// is for a file that only the daemon can read; public need not be kept secret.
func NewKey(random io.Reader, name string) (secret, public string, err error) {
	if !validKeyName(name) {
		return "", "", fmt.Errorf("make a key: a key's name has no spaces and no plus sign: %q", name)
	}
	secret, public, err = note.GenerateKey(random, name)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	return secret, public, nil
}

func validKeyName(name string) bool {
	return name != "" && len(name) <= MaxStoreBytes && oneLine(name) && !strings.ContainsAny(name, " +")
}

// ParseKey reads a secret that [NewKey] made. Its errors never contain it.
func ParseKey(secret string) (Key, error) {
	secret = strings.TrimSpace(secret)
	signer, err := note.NewSigner(secret)
	if err != nil {
		return Key{}, errors.New("read the signing key: it is not one; make a new one, or restore the old from a backup")
	}
	// A secret key has five parts; the last one may contain plus signs itself.
	parts := strings.SplitN(secret, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return Key{}, errors.New("read the signing key: it is not an Ed25519 key")
	}
	public, ok := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return Key{}, errors.New("read the signing key: it has no public half")
	}
	text, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return Key{}, fmt.Errorf("read the signing key: %w", err)
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return Key{}, fmt.Errorf("read the signing key: %w", err)
	}
	return Key{Signer: signer, Verifier: verifier, Public: text}, nil
}

// Verifiers are the keys that verify notes: this one and older ones, whose signatures remain valid.
func (k Key) Verifiers(older ...note.Verifier) note.Verifiers {
	return note.VerifierList(append([]note.Verifier{k.Verifier}, older...)...)
}
