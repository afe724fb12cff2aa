// Package httpapi serves the hook API and the owner's API over HTTP: Connect,
// gRPC and gRPC-Web on one handler. It knows who may call what and refuses
// everybody else. It decides nothing about agents and keeps nothing but tokens.
package httpapi
