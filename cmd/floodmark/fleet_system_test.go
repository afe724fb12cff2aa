package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/people/oidctest"
	"github.com/floodmark/floodmark/internal/service/daemon"
	"github.com/floodmark/floodmark/internal/setup/config"
)

type fleetKey struct{}

// fleet plays the surroundings of a fleet for a script:
//
//	fleet open DIR            an identity provider, and the settings below DIR of a monitor with a
//	                          network door; FLEET is its address, ca.crt signs it, ISSUER is the provider
//	fleet trusted DIR         the same with a provider reached by https, whose certificate provider.crt
//	                          another authority than the fleet's has signed
//	fleet bare DIR            the same without a provider, with the tenants acme and beta
//	fleet person NAME GROUP…  who approves at the provider from now on; without a name: denies
//	fleet serve DIR KEY       runs that monitor, as a node that laptops can join and whose bundles are
//	                          signed by the key
//	fleet says ERROR…         the provider's first answers while a person is waited for
//	fleet late                the next code ends soon, unconfirmed
//	fleet patient             every poll that was told to slow down did
//	fleet ended FILE          the tokens in a file of logins have ended
//	fleet down, fleet up      the provider is away, and back
func (s *scripts) fleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: fleet VERB …")
	}
	switch args[0] {
	case "open":
		openFleet(ts, ts.MkAbs(args[1]), oidctest.New())
		return
	case "trusted":
		openFleet(ts, ts.MkAbs(args[1]), oidctest.NewTLS())
		return
	case "bare":
		openFleet(ts, ts.MkAbs(args[1]), nil)
		return
	case "ended":
		text := ts.ReadFile(args[1])
		ends := regexp.MustCompile(`"ends": "[^"]*"`)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(ends.ReplaceAllString(text, `"ends": "2020-01-02T03:04:05Z"`)), 0o600))
		return
	case "serve":
		serveFleet(s.ctx, ts, ts.MkAbs(args[1]), args[2])
		return
	}
	idp := *ts.Value(fleetKey{}).(**oidctest.Provider)
	switch verb, args := args[0], args[1:]; verb {
	case "person":
		if len(args) == 0 {
			idp.LogIn(nil)
			return
		}
		c := idp.Claims("floodmark", time.Now())
		c["sub"], c["groups"] = args[0], args[1:]
		idp.LogIn(c)
	case "says":
		idp.Says(args...)
	case "late":
		idp.Lives(2 * time.Second)
	case "patient":
		if idp.Hasty() {
			ts.Fatalf("it was told to slow down, and did not")
		}
	case "down", "up":
		idp.Down(verb == "down")
	default:
		ts.Fatalf("fleet %s?", verb)
	}
}

// openFleet writes the settings of a fleet. If idp is nil, the fleet has no identity provider.
func openFleet(ts *testscript.TestScript, dir string, idp *oidctest.Provider) {
	who := "tenants: {acme: {}, beta: {}}\n"
	if idp != nil {
		ts.Defer(idp.Close)
		*ts.Value(fleetKey{}).(**oidctest.Provider) = idp
		ts.Setenv("ISSUER", idp.URL)
		who = fmt.Sprintf(`people:
  issuer: %s
  clientId: floodmark
  tenant: ""
  scopes: [offline_access]
  roles: {viewer: [engineering], approver: [oncall], policyAuthor: [security], admin: [platform], laptop: [staff]}
`, idp.URL)
	}
	if idp != nil && strings.HasPrefix(idp.URL, "https:") {
		ts.Check(os.WriteFile(ts.MkAbs("provider.crt"), idp.Certificate(), 0o600))
		who += fmt.Sprintf("  authority: %q\n", ts.MkAbs("provider.crt"))
	}
	address, release, err := reserveAddress()
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv("FLEET", "https://"+address)
	ts.Setenv("DOOR", address)
	config := filepath.Join(dir, "config")
	ts.Check(os.MkdirAll(config, 0o700))
	cert, key := filepath.Join(config, "door.crt"), filepath.Join(config, "door.key")
	public, secret := doorCertificate(ts)
	settings := fmt.Sprintf(`version: 1
listen:
  - {address: %q, certificate: %q, key: %q}
%s`, address, cert, key, who)
	ts.Check(errors.Join(os.WriteFile(cert, public, 0o600), os.WriteFile(key, secret, 0o600), os.WriteFile(ts.MkAbs("ca.crt"), public, 0o600),
		os.WriteFile(filepath.Join(config, "service.yaml"), []byte(settings), 0o600)))
}

// serveFleet runs a node in this process. It keeps the list of laptops in memory, because its
// journal is a file.
func serveFleet(ctx context.Context, ts *testscript.TestScript, dir, key string) {
	paths := config.DirPaths(dir)
	service, err := config.LoadService(paths.Service)
	ts.Check(err)
	service.Bundles = &config.Bundles{Keys: []string{key}}
	ctx, cancel := context.WithCancel(ctx)
	d, err := daemon.Open(ctx, daemon.Options{
		Paths: paths, Service: service, Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now, Fault: func(string) {}, Machines: machines.NewMemory(),
	})
	if err != nil {
		cancel()
		ts.Fatalf("%v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	ts.Defer(func() {
		cancel()
		ts.Check(<-ended)
	})
}

func doorCertificate(ts *testscript.TestScript) (public, secret []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	data, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: data})
}
