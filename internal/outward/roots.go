package outward

import (
	"crypto/x509"
	"errors"
)

// ErrNoCertificate says that a text which should name authorities names none.
var ErrNoCertificate = errors.New("it holds no certificate (PEM)")

// Pool are the authorities in a text. One that names none is an error, so that no caller
// falls back to those the machine trusts by mistake.
func Pool(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, ErrNoCertificate
	}
	return pool, nil
}

// Roots are the authorities in a text alone; nil, which is those the machine trusts,
// where there is no text.
func Roots(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil //nolint:nilnil // that is how the library says it
	}
	return Pool([]byte(pem))
}

// RootsBeside are the authorities in a text, and those the machine trusts.
func RootsBeside(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil //nolint:nilnil // as above
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a machine without any
	}
	if !pool.AppendCertsFromPEM([]byte(pem)) {
		return nil, ErrNoCertificate
	}
	return pool, nil
}
