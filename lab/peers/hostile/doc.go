// Package hostile plays MCP servers that mean harm, one case a name, behind the
// real «floodmark mcp wrap». Each case must end in a clear refusal while another
// server goes on working. It has only tests.
package hostile
