package mcphttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Several servers with state behind one address are a session, so that we speak
// the versions with sessions only. A client of the family without them says its
// version with every request; it is told which there are, in the way that the
// specification has for it, and says initialize then.

// versions are those with sessions, the newest first.
func versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// asked returns the version that a request is to be read in: what it says in its
// header, or in the _meta of a message. Empty: it does not say.
func asked(r *http.Request, m mail) string {
	if m.version != "" {
		return m.version
	}
	return r.Header.Get(versionHeader)
}

// versionIn returns the version that the _meta of parameters names, as clients
// without sessions write it. One that cannot be read is not empty either.
func versionIn(params json.RawMessage) string {
	if !bytes.Contains(params, []byte(mcp.MetaKeyProtocolVersion)) {
		return ""
	}
	var said struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(params, &said) != nil || said.Meta[mcp.MetaKeyProtocolVersion] == nil {
		return ""
	}
	version := ""
	if json.Unmarshal(said.Meta[mcp.MetaKeyProtocolVersion], &version) != nil || version == "" {
		return "?"
	}
	return version[:min(len(version), maxVersion)]
}

// maxVersion bounds what is said back of a version, in bytes.
const maxVersion = 64

// speaks says whether a request is of a version that we speak. If it is not, it
// was answered.
func (h *Handler) speaks(w http.ResponseWriter, r *http.Request, m mail) bool {
	version := asked(r, m)
	if m.version == "" && (version == "" || slices.Contains(versions(), version)) {
		return true
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions(), Requested: version[:min(len(version), maxVersion)]})
	if err != nil {
		data = nil // texts are always JSON
	}
	h.refuseWith(w, m.first, http.StatusBadRequest, &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "unsupported protocol version", Data: data})
	return false
}
