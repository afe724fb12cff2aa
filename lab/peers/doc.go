// Package peers runs real MCP servers and clients with and without the gateway between them, and
// compares their messages. It contains only tests; .ci/mcp installs what they need.
package peers
