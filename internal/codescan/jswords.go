package codescan

// The lists of what JavaScript may say.

func jsKeyword(w string) bool {
	switch w {
	case "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "export", "extends", "false",
		"finally", "for", "function", "if", "import", "in", "instanceof", "let", "new", "null", "of", "return", "static", "super", "switch", "this", "throw", "true",
		"try", "typeof", "var", "void", "while", "with", "yield", "async", "as", "from", "get", "set", "type", "interface", "enum", "implements",
		"declare", "readonly", "private", "public", "protected", "abstract", "keyof", "is", "infer", "namespace", "satisfies":
		return true
	}
	return false
}

// jsGlobal tells what may follow a global that JavaScript knows by itself: the
// members that may be used, and whether it may stand alone.
func jsGlobal(w string) (members string, alone, known bool) {
	switch w {
	case "Math":
		return "*", false, true
	case "JSON":
		return " parse stringify ", false, true
	case "Object":
		return " keys values entries assign freeze fromEntries is hasOwn isFrozen groupBy ", false, true
	case "Array":
		return " isArray from of ", true, true
	case "Number":
		return " isInteger isFinite isNaN isSafeInteger parseFloat parseInt MAX_SAFE_INTEGER MIN_SAFE_INTEGER EPSILON POSITIVE_INFINITY NEGATIVE_INFINITY MAX_VALUE MIN_VALUE NaN ", true, true
	case "String":
		return " raw fromCharCode fromCodePoint ", true, true
	case "Date":
		return " now UTC parse ", true, true
	case "Promise":
		return " all allSettled any race resolve reject withResolvers ", true, true
	case "BigInt":
		return " asIntN asUintN ", true, true
	case "Symbol":
		return " iterator asyncIterator toStringTag ", false, true
	case "Intl":
		return " NumberFormat DateTimeFormat PluralRules Collator RelativeTimeFormat ListFormat Segmenter ", false, true
	case "console":
		return " log error warn info debug table dir time timeEnd assert group groupEnd count ", false, true
	case "performance":
		return " now ", false, true
	case "Map", "Set", "WeakMap", "WeakSet", "RegExp", "Boolean", "Error", "TypeError", "RangeError", "SyntaxError", "EvalError", "URIError", "AggregateError",
		"ReferenceError", "Uint8Array", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "BigInt64Array",
		"BigUint64Array", "ArrayBuffer", "DataView", "TextEncoder", "TextDecoder", "URLSearchParams", "parseInt", "parseFloat", "isNaN", "isFinite",
		"NaN", "Infinity", "undefined", "structuredClone", "encodeURIComponent", "encodeURI", "AbortController", "Uint8ClampedArray":
		return " groupBy ", true, true
	}
	return "", false, false
}

// jsDanger names what may stand nowhere, neither as a name nor behind a dot:
// ways to code from text, to the global object and to parts of Node.js and of
// browsers that reach files, processes and networks.
func jsDanger(w string) bool {
	switch w {
	case "eval", "Function", "AsyncFunction", "GeneratorFunction", "globalThis", "global", "window", "self", "frames", "GLOBAL", "process", "require",
		"Reflect", "Proxy", "WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef", "Iterator", "fetch", "XMLHttpRequest", "WebSocket",
		"EventSource", "Worker", "SharedWorker", "ServiceWorker", "BroadcastChannel", "MessageChannel", "Deno", "Bun", "document", "navigator", "location",
		"localStorage", "sessionStorage", "indexedDB", "Image", "Audio", "importScripts", "atob", "btoa", "escape", "unescape", "decodeURIComponent",
		"decodeURI", "Buffer", "crypto", "setImmediate", "alert", "prompt", "confirm", "chrome", "browser", "Request", "Response", "Headers", "FormData",
		"Blob", "File", "FileReader", "caches", "RTCPeerConnection", "Notification", "WebTransport", "openDatabase", "ActiveXObject", "ShadowRealm",
		"Compartment", "Realm", "DOMParser", "Storage", "CompressionStream", "Event", "EventTarget", "reportError",
		// parts of Node.js, which are globals in inline programs
		"async_hooks", "child_process", "cluster", "dgram", "diagnostics_channel", "dns", "domain", "fs", "http", "http2", "https", "inspector", "net", "os",
		"perf_hooks", "repl", "sys", "tls", "trace_events", "tty", "v8", "vm", "wasi", "worker_threads", "readline", "zlib", "sea", "sqlite", "execa", "shelljs",
		"axios", "undici", "superagent", "puppeteer", "playwright",
		// reflection
		"constructor", "prototype", "caller", "callee", "mainModule", "binding", "dlopen", "createRequire", "getBuiltinModule", "_load", "_compile", "_extensions",
		"_resolveFilename", "runInThisContext", "runInNewContext", "runInContext", "compileFunction", "createContext", "SourceTextModule", "SyntheticModule",
		"getPrototypeOf", "setPrototypeOf", "getOwnPropertyNames", "getOwnPropertySymbols", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors",
		"defineProperty", "defineProperties", "prepareStackTrace", "captureStackTrace", "getThis", "getFunction", "setEngine", "requireActual", "requireMock",
		"importActual", "doMock", "unstable_mockModule", "createMockFromModule", "isolateModules", "species", "reportOnly":
		return true
	}
	return jsFiling(w)
}

// jsFiling names functions of Node.js that touch files or start programs.
func jsFiling(w string) bool {
	switch w {
	case "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork", "readFile", "readFileSync", "writeFile", "writeFileSync", "appendFile",
		"appendFileSync", "unlink", "unlinkSync", "rmSync", "rmdir", "rmdirSync", "mkdir", "mkdirSync", "mkdtemp", "mkdtempSync", "rename", "renameSync", "copyFile",
		"copyFileSync", "cpSync", "createReadStream", "createWriteStream", "openSync", "opendir", "opendirSync", "readdir", "readdirSync", "statSync", "lstat", "lstatSync",
		"existsSync", "accessSync", "watchFile", "symlink", "symlinkSync", "linkSync", "chmod", "chmodSync", "chown", "chownSync", "utimes", "utimesSync",
		"truncateSync", "readSync", "writeSync", "realpath", "realpathSync", "readlink", "readlinkSync", "createConnection", "createServer", "createSecureServer",
		"sendBeacon", "sendFile", "postMessage", "innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc", "contentWindow", "defaultView", "ownerDocument",
		"createElement", "appendChild", "homedir", "userInfo", "networkInterfaces", "loadEnvFile", "readFileUtf8", "openAsBlob", "promises", "fsPromises",
		"XMLHttpRequestUpload", "importModuleDynamically", "registerHooks", "hostname":
		return true
	}
	return false
}

// jsAttribute names further attributes that may not be used of anything,
// though they are ordinary words elsewhere.
func jsAttribute(w string) bool {
	switch w {
	case "env", "exec", "open", "request", "connect", "listen", "send", "write", "rm", "cp", "watch", "stat", "access", "link", "kill", "chdir", "register", "run",
		"src", "href", "action", "cookie", "arguments", "module", "lookup", "sendMessage", "exit", "abort", "mock", "post", "put", "patch", "Script", "Module",
		"Image", "cwd", "load", "execPath", "execArgv", "onmessage", "onerror", "onload", "truncate", "pipe", "on", "once", "addEventListener", "toMatchFileSnapshot", "fileSnapshot", "setResolveSnapshotPath",
		"setDefaultSnapshotSerializers", "setMock":
		return true
	}
	return jsDanger(w)
}

// jsBuiltin reports whether a module is Node.js's own and only computes. What
// else may be loaded lies in a folder of the project.
func jsBuiltin(m string) bool { return m != "vitest" && m != "@jest/globals" && m != "node:test" }

// jsModule says of a module that is not of the project what may be loaded:
// known modules that only compute or test.
func jsModule(m string) bool {
	switch m {
	case "node:test", "node:assert", "node:assert/strict", "assert", "assert/strict", "node:path", "path", "node:util", "util", "node:querystring", "querystring",
		"node:url", "url", "vitest", "@jest/globals":
		return true
	}
	return false
}
