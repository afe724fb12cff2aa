package outward

import (
	"crypto/x509"
	"errors"
)

// ErrNoCertificate says that a text contains no certificate of an authority.
var ErrNoCertificate = errors.New("it holds no certificate (PEM)")

// Pool returns the authorities in a text. A text without one is an error, so that a caller does not
// use the authorities of the machine by mistake.
func Pool(pem []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, ErrNoCertificate
	}
	return pool, nil
}

// Roots returns only the authorities in a text. Without a text it returns nil, which means the
// authorities that the machine trusts.
func Roots(pem string) (*x509.CertPool, error) {
	if pem == "" {
		return nil, nil //nolint:nilnil // nil means the machine's authorities to the library
	}
	return Pool([]byte(pem))
}

// RootsBeside returns the authorities in a text together with those that the machine trusts.
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
