// Package hostile runs malicious MCP servers, one case for each name, behind the real «floodmark
// mcp wrap». Each case must end in a clear refusal while another server continues to work. It
// contains only tests.
package hostile
