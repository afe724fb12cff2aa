module github.com/floodmark/floodmark/examples/client

go 1.26.0

require github.com/floodmark/floodmark v0.0.0

require (
	connectrpc.com/connect v1.21.1 // indirect
	golang.org/x/mod v0.42.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/floodmark/floodmark => ../..
