// Package peers runs real MCP servers and clients with the gateway between them
// and without it, and compares what they say. It holds nothing but tests; .ci/mcp
// installs what they need.
package peers
