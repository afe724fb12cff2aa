package main

import "google.golang.org/protobuf/compiler/protogen"

func hookPage(*protogen.Plugin) (string, error) { return "# Hook API\n", nil }
