module github.com/floodmark/floodmark

go 1.26.0

require (
	cel.dev/cel-go v0.33.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5
	google.golang.org/protobuf v1.36.12 // indirect
)
