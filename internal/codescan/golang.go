package codescan

import (
	"go/scanner"
	gotoken "go/token"
	"strconv"
	"strings"
)

// A goWord is one token of Go.
type goWord struct {
	tok gotoken.Token
	lit string
}

// inertGo reads Go with Go's own scanner. Whole programs are not followed:
// nobody writes Go on a command line.
func inertGo(src string) bool {
	list, ok := goWords(src)
	if !ok {
		return false
	}
	at := func(i int) goWord {
		if i < 0 || i >= len(list) {
			return goWord{tok: gotoken.EOF}
		}
		return list[i]
	}
	for i, w := range list {
		switch w.tok {
		case gotoken.IDENT:
			before, next := at(i-1).tok, at(i+1).tok
			if before == gotoken.PERIOD && goMember(w.lit) || before != gotoken.PERIOD && next == gotoken.PERIOD && goPackage(w.lit) || w.lit == "unsafe" || next == gotoken.LPAREN && before != gotoken.FUNC && actingName(w.lit) {
				return false
			}
		case gotoken.IMPORT:
			if next := at(i + 1); next.tok != gotoken.LPAREN && next.tok != gotoken.STRING && next.tok != gotoken.IDENT {
				return false
			}
		case gotoken.STRING:
			if !goString(w.lit) || goSpec(at, i) && !goImport(at, i) {
				return false
			}
		case gotoken.CHAR:
			if escapes(w.lit) {
				return false
			}
		default:
		}
	}
	return true
}

func goWords(src string) ([]goWord, bool) {
	if !clean(src) || strings.Contains(src, "\ufeff") {
		return nil, false
	}
	fset := gotoken.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", fset.Base(), len(src)), []byte(src), func(gotoken.Position, string) {}, scanner.ScanComments)
	list := make([]goWord, 0, len(src)/6+8)
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case gotoken.EOF:
			return list, s.ErrorCount == 0
		case gotoken.ILLEGAL:
			return nil, false
		case gotoken.COMMENT:
			if !goComment(lit) {
				return nil, false
			}
		case gotoken.PERIOD:
			if dangling(src, fset.Position(pos).Offset+1) {
				return nil, false
			}
			list = append(list, goWord{tok, lit})
		default:
			list = append(list, goWord{tok, lit})
		}
	}
}

// goComment refuses what tells the compiler or tools something.
func goComment(lit string) bool {
	for line := range strings.Lines(lit) {
		line = strings.TrimSpace(line)
		for _, p := range []string{"//go:", "//line", "/*line", "//export", "//extern", "#cgo", "#include", "//#cgo", "// #cgo", "//#include", "// #include", "//nolint", "//sys"} {
			if strings.HasPrefix(line, p) {
				return false
			}
		}
	}
	return goQuiet(strings.TrimPrefix(strings.TrimPrefix(lit, "//"), "/*"))
}

// goString judges what a string says, as it is written and as it is read.
func goString(lit string) bool {
	value, err := strconv.Unquote(lit)
	return err == nil && !escapes(lit) && goQuiet(value) && goQuiet(lit)
}

// goQuiet reports whether what a string or a comment says would do nothing as
// code, and holds no address and nothing encoded.
func goQuiet(s string) bool {
	if suspicious(s) || strings.Contains(s, "//go:") {
		return false
	}
	for i, w := range wordsOf(s) {
		j := i + len(w)
		dot := j+1 < len(s) && s[j] == '.' && isLetter(s[j+1])
		if i > 0 && s[i-1] == '.' && goMember(w) || dot && goPackage(w) || w == "import" && strings.ContainsAny(lineOf(s, i), "\"`(") {
			return false
		}
	}
	return true
}

// goSpec reports whether the string at i may be the path of an import: it
// stands where no other string can stand.
func goSpec(at func(int) goWord, i int) bool {
	if next := at(i + 1).tok; next != gotoken.SEMICOLON && next != gotoken.EOF && next != gotoken.RPAREN {
		return false
	}
	k := i - 1
	if t := at(k).tok; t == gotoken.IDENT || t == gotoken.PERIOD {
		k--
	}
	switch at(k).tok {
	case gotoken.IMPORT, gotoken.SEMICOLON, gotoken.EOF:
		return true
	case gotoken.LPAREN:
		return at(k-1).tok == gotoken.IMPORT || at(i+1).tok != gotoken.RPAREN
	default:
		return false
	}
}

// goImport judges the import whose path is at i.
func goImport(at func(int) goWord, i int) bool {
	before := at(i - 1)
	if before.tok == gotoken.PERIOD || before.tok == gotoken.IDENT && before.lit == "_" {
		return false
	}
	value, err := strconv.Unquote(at(i).lit)
	if err != nil {
		return false
	}
	switch value {
	case "bufio", "bytes", "cmp", "container/heap", "container/list", "container/ring", "context", "crypto/md5", "crypto/sha1", "crypto/sha256", "crypto/sha512",
		"encoding/binary", "encoding/csv", "encoding/hex", "encoding/json", "errors", "fmt", "hash", "hash/crc32", "hash/fnv", "hash/maphash", "html", "io", "iter",
		"maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "path", "regexp", "slices", "sort", "strconv", "strings", "sync",
		"sync/atomic", "testing", "testing/iotest", "testing/quick", "text/tabwriter", "time", "unicode", "unicode/utf16", "unicode/utf8":
		return true
	}
	return false
}

// goPackage names packages that do more than compute.
func goPackage(w string) bool {
	switch w {
	case "os", "exec", "http", "net", "syscall", "unsafe", "ioutil", "filepath", "fs", "plugin", "reflect", "runtime", "embed", "tls", "smtp", "rpc", "jsonrpc",
		"websocket", "sql", "driver", "user", "signal", "pprof", "httptest", "httputil", "httptrace", "fcgi", "cgi", "cgo", "C", "template", "gob", "fstest", "unix", "windows",
		"zip", "tar", "gzip", "debug", "trace", "expvar", "syslog", "textproto", "mail", "x509", "pem", "elf", "build", "packages", "parser", "loader", "importer",
		"resty", "grpc", "ssh", "sftp", "git", "docker", "client", "osexec", "execabs", "flag", "log", "coverage", "metrics", "weak", "unique", "yaegi", "interp", "otto",
		"goja", "lua", "wasm", "wazero", "js":
		return true
	}
	return false
}

// goMember names what leads to files, processes, networks and reflection, by
// whatever name a package was imported.
func goMember(w string) bool {
	switch w {
	case "Command", "CommandContext", "StartProcess", "Exec", "ForkExec", "LookPath", "Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "Clearenv", "ExpandEnv",
		"ReadFile", "WriteFile", "Open", "OpenFile", "OpenRoot", "OpenInRoot", "Create", "CreateTemp", "Remove", "RemoveAll", "Rename", "Mkdir", "MkdirAll", "MkdirTemp",
		"Chmod", "Chown", "Lchown", "Chtimes", "Symlink", "Link", "Readlink", "ReadDir", "Stat", "Lstat", "Truncate", "Chdir", "Hostname", "UserHomeDir", "UserCacheDir",
		"UserConfigDir", "Getwd", "Executable", "TempDir", "TempFile", "DirFS", "CopyFS", "Pipe", "NewFile", "Glob", "Walk", "WalkDir", "EvalSymlinks", "Abs",
		"Dial", "DialContext", "DialTimeout", "DialTLS", "DialTCP", "DialUDP", "DialUnix", "DialIP", "Listen", "ListenTCP", "ListenUDP", "ListenUnix", "ListenPacket",
		"ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS", "ServeFile", "FileServer", "Post", "PostForm", "NewRequest", "NewRequestWithContext", "DefaultClient",
		"DefaultTransport", "RoundTrip", "LookupHost", "LookupIP", "LookupAddr", "LookupTXT", "LookupMX", "LookupNS", "LookupCNAME", "LookupSRV", "LookupPort", "Resolver",
		"ResolveTCPAddr", "ResolveUDPAddr", "ResolveIPAddr", "SendMail", "NewServer", "NewTLSServer", "Hijack", "Pointer", "ValueOf", "TypeOf", "MethodByName", "FieldByName",
		"NewAt", "MakeFunc", "UnsafePointer", "UnsafeAddr", "SliceData", "StringData", "Syscall", "Syscall6", "RawSyscall", "RawSyscall6", "SyscallN", "Kill", "FindProcess",
		"Exit", "SetFinalizer", "AddCleanup", "ParseFiles", "ParseGlob", "ParseFS", "CombinedOutput", "StdoutPipe", "StdinPipe", "StderrPipe", "SysProcAttr", "LoadLocation",
		"Signal", "Getpid", "Mmap", "Ptrace", "Mount", "Setuid", "SetOutput", "NewInterpreter", "Eval", "RunString", "Args", "Stdin", "Getuid", "ImportFrom":
		return true
	}
	return false
}
