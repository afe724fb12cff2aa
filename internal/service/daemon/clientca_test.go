package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/outward"
)

// A clientCA file that holds no certificate is refused with the usual error: the server does not
// fall back to the certificates that the machine trusts.
func TestClientCAWithoutCertificates(t *testing.T) {
	listen, _ := certificate(t, t.TempDir())
	listen.ClientCA = listen.Certificate
	if c, err := serverTLS(listen); err != nil || c.ClientCAs == nil {
		t.Fatal(err)
	}
	listen.ClientCA = filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(listen.ClientCA, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := serverTLS(listen); !errors.Is(err, outward.ErrNoCertificate) || !strings.Contains(err.Error(), "clientCA: "+listen.ClientCA) {
		t.Error(err)
	}
}
