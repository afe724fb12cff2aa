// Package httpapi serves the hook API and the owner's API over HTTP: Connect, gRPC and gRPC-Web on
// one handler. It knows who may call what and refuses all other calls. It makes no decisions about
// agents and stores only tokens.
package httpapi
