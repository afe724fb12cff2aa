// Command proto regenerates what is made from the API's description in api/: the Go code in wire/
// and the page docs/reference/hook-api.md. It uses only the pinned modules. The description itself
// is checked by buf.
//
//	go -C tools/proto run .
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	root   = "../.." // the repository, relative to this folder
	page   = "docs/reference/hook-api.md"
	module = "module=github.com/floodmark/floodmark"
)

// A plugin generates Go code from the description.
type plugin struct{ name, options string }

func plugins() []plugin {
	return []plugin{
		{"protoc-gen-go", module},
		{"protoc-gen-connect-go", module + ",package_suffix=,simple=true"},
	}
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "proto:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	request, err := describe(ctx)
	if err != nil {
		return err
	}
	for _, p := range plugins() {
		request.Parameter = new(p.options)
		if err := p.run(ctx, request); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	// Encode and decode the request, so that our own options become unknown bytes, as plugins see
	// them.
	data, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	request = &pluginpb.CodeGeneratorRequest{}
	if err := proto.Unmarshal(data, request); err != nil {
		return err
	}
	request.Parameter = nil
	described, err := protogen.Options{}.New(request)
	if err != nil {
		return err
	}
	text, err := hookPage(described)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(text), 0o644)
}

// describe compiles every file below api/, with its comments.
func describe(ctx context.Context) (*pluginpb.CodeGeneratorRequest, error) {
	api := filepath.Join(root, "api")
	paths, err := filepath.Glob(filepath.Join(api, "floodmark", "*", "*.proto"))
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		if paths[i], err = filepath.Rel(api, p); err != nil {
			return nil, err
		}
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{api}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, paths...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: paths}
	seen := map[string]bool{}
	for _, f := range files {
		request.ProtoFile = appendFile(request.ProtoFile, seen, f)
	}
	return request, nil
}

// appendFile adds a file after the files it imports, which is the order that plugins need.
func appendFile(all []*descriptorpb.FileDescriptorProto, seen map[string]bool, f protoreflect.FileDescriptor) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return all
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		all = appendFile(all, seen, f.Imports().Get(i).FileDescriptor)
	}
	return append(all, protodesc.ToFileDescriptorProto(f))
}

// run runs the pinned plugin and writes the files that it returns.
func (p plugin) run(ctx context.Context, request *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", p.name)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.GetFile() {
		if err := os.WriteFile(filepath.Join(root, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
