package codescan

import "strings"

// The lists of what Python code may say. A name that is on none of them is one
// of the project's or of the text itself.

func pyKeyword(w string) bool {
	switch w {
	case "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
		"except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
		"return", "try", "while", "with", "yield":
		return true
	}
	return false
}

// pyBuiltin names what Python knows without any import and what only computes.
func pyBuiltin(w string) bool {
	switch w {
	case "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "classmethod", "complex", "dict", "divmod",
		"enumerate", "exit", "filter", "float", "format", "frozenset", "hasattr", "hash", "hex", "id", "int", "isinstance", "issubclass",
		"iter", "len", "list", "map", "max", "memoryview", "min", "next", "object", "oct", "ord", "pow", "print", "property", "quit",
		"range", "repr", "reversed", "round", "set", "slice", "sorted", "staticmethod", "str", "sum", "super", "tuple", "type", "zip",
		"Ellipsis", "NotImplemented", "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
		"BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
		"ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning", "EnvironmentError",
		"Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit",
		"IOError", "ImportError", "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError",
		"KeyError", "KeyboardInterrupt", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "NotADirectoryError",
		"NotImplementedError", "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
		"PythonFinalizationError", "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration",
		"StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "TypeError",
		"UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning",
		"UserWarning", "ValueError", "Warning", "ZeroDivisionError":
		return true
	}
	return false
}

// pyDanger names what no text may use as a plain name: the other builtins, and
// modules that a file may have loaded and that do more than compute.
func pyDanger(w string) bool {
	switch w {
	case "aiter", "anext", "breakpoint", "compile", "copyright", "credits", "delattr", "dir", "eval", "exec", "getattr", "globals", "help",
		"input", "license", "locals", "open", "setattr", "vars", "reload", "execfile", "raw_input":
		return true
	}
	return pyModule(w)
}

// pyModule names modules that reach files, networks, processes, memory or code.
func pyModule(w string) bool {
	switch w {
	case "os", "sys", "subprocess", "socket", "shutil", "importlib", "builtins", "ctypes", "pickle", "cPickle", "marshal", "runpy", "pty",
		"posix", "posixpath", "ntpath", "io", "pathlib", "tempfile", "urllib", "urllib2", "urllib3", "http", "httplib", "ftplib",
		"smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc", "asyncio", "multiprocessing", "threading", "concurrent", "signal",
		"inspect", "gc", "codeop", "pdb", "bdb", "zipimport", "pkgutil", "webbrowser", "shelve", "dbm", "sqlite3", "fileinput",
		"codecs", "mmap", "fcntl", "socketserver", "ssl", "selectors", "glob", "sysconfig", "timeit", "cProfile",
		"doctest", "zipfile", "tarfile", "gzip", "bz2", "lzma", "linecache", "getpass", "atexit", "imp", "distutils", "setuptools",
		"ensurepip", "wsgiref", "cgi", "nntplib", "mailbox", "pydoc", "rlcompleter", "faulthandler", "tracemalloc", "_thread",
		"netrc", "compileall", "py_compile", "zipapp", "modulefinder", "bltns", "requests", "httpx", "aiohttp",
		"paramiko", "fabric", "boto3", "botocore", "pexpect", "plumbum", "psutil", "cffi", "dill", "cloudpickle", "joblib",
		"websocket", "websockets", "pycurl", "execnet", "nox", "jinja2", "mako", "yaml", "monkeypatch",
		"pip", "pwd", "grp", "spwd", "crypt", "termios", "tty", "syslog",
		"mock", "torch", "pandas", "pd", "sitecustomize", "usercustomize", "idlelib",
		"turtle", "tkinter", "lib2to3", "nis", "msvcrt", "winreg", "winsound", "_winapi", "_posixsubprocess", "_socket", "_io", "_os", "_sys":
		return true
	}
	return false
}

// pyAttribute names attributes that lead from ordinary objects to code,
// modules, frames, files, processes or networks.
func pyAttribute(w string) bool {
	switch w {
	case // frames, code, functions, generators
		"f_back", "f_builtins", "f_code", "f_globals", "f_locals", "f_trace", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code",
		"cr_await", "cr_origin", "ag_frame", "ag_code", "ag_await", "tb_frame", "tb_next", "tb_lasti", "func_globals", "func_code",
		"func_closure", "func_defaults", "co_code", "co_consts", "im_func", "im_self", "im_class", "mro", "cell_contents",
		// code from text, modules by name
		"eval", "exec", "execfile", "compile", "compile_command", "literal_exec", "import_module", "load_module", "exec_module",
		"create_module", "find_module", "find_spec", "spec_from_file_location", "spec_from_loader", "module_from_spec", "find_loader",
		"load_source", "load_dynamic", "load_compiled", "load_package", "run_path", "run_module", "runcode", "runsource", "runctx",
		"runeval", "runcall", "interact", "InteractiveConsole", "InteractiveInterpreter", "import_hook", "reload", "import_file",
		"importorskip", "resolve_name", "get_importer", "get_loader", "walk_packages", "iter_modules", "modules", "meta_path", "path_hooks",
		"path_importer_cache", "addaudithook", "settrace", "setprofile", "set_trace", "breakpointhook", "displayhook", "excepthook",
		"unraisablehook", "addsitedir", "attrgetter", "methodcaller", "get_type_hints", "getattr", "setattr", "delattr", "getattr_static",
		"globals", "locals", "vars", "builtins", "format_map", "vformat", "get_field", "getmodule", "currentframe", "getframe", "stack",
		"get_objects", "get_referrers", "get_referents", "FunctionType", "CodeType", "ModuleType", "LambdaType", "MethodType", "new_class",
		"discover", "loadTestsFromName", "loadTestsFromNames", "loadTestsFromModule", "sysexec", "sysfind", "pyimport", "getfixturevalue", "pluginmanager",
		"import_plugin", "SourceFileLoader", "SourcelessFileLoader", "ExtensionFileLoader", "FileFinder", "set_asyncgen_hooks",
		// pickles and native code
		"Unpickler", "Pickler", "read_pickle", "to_pickle", "find_class", "persistent_load", "CDLL", "PyDLL", "WinDLL", "LoadLibrary",
		"dlopen", "cdll", "pythonapi", "memmove", "string_at", "py_object", "from_address", "unsafe_load", "full_load", "load_all",
		// processes
		"system", "popen", "Popen", "popen2", "popen3", "popen4", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput",
		"spawn", "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "posix_spawn", "posix_spawnp",
		"execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe", "fork", "forkpty", "startfile", "kill", "killpg",
		"abort", "create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell", "run_in_executor", "Process",
		"ProcessPoolExecutor", "putenv", "unsetenv", "environ", "environb", "getenv", "getenvb", "getpass", "getuser", "pidfd_open",
		"register_at_fork", "open_new", "open_new_tab", "exec_command", "invoke_shell", "popen_spawn",
		// networks
		"urlopen", "urlretrieve", "Request", "build_opener", "install_opener", "URLopener", "FancyURLopener", "HTTPConnection",
		"HTTPSConnection", "HTTPServer", "create_connection", "create_server", "socketpair", "connect", "connect_ex", "sendall", "sendto",
		"sendmsg", "recv", "recvfrom", "getaddrinfo", "gethostbyname", "gethostbyaddr", "gethostname", "getfqdn", "bind", "listen",
		"SMTP", "SMTP_SSL", "sendmail", "send_message", "FTP", "FTP_TLS", "Telnet", "IMAP4", "POP3", "NNTP", "ServerProxy", "open_connection",
		"start_server", "create_datagram_endpoint", "serve_forever", "makefile", "fromfd", "SocketHandler", "HTTPHandler", "SysLogHandler":
		return true
	}
	return pyFiling(w) || pyModule(w)
}

// pyFixture names what test programs give to a test that asks for it by name,
// or look for in its file, and that leads further.
func pyFixture(w string) bool {
	switch w {
	case "tmpdir", "tmpdir_factory", "testdir", "pytester", "mocker", "class_mocker", "module_mocker", "session_mocker", "page", "browser", "load_tests":
		return true
	}
	return strings.HasPrefix(w, "pytest_")
}

// pyFiling names attributes that touch files.
func pyFiling(w string) bool {
	switch w {
	case "open", "open_code", "fdopen", "openpty", "FileIO", "TextIOWrapper", "BufferedReader", "BufferedWriter", "BufferedRandom", "read_text", "read_bytes",
		"write_text", "write_bytes", "read_csv", "to_csv", "read_json", "to_json", "read_parquet", "to_parquet", "read_excel", "to_excel",
		"read_sql", "read_html", "read_table", "read_hdf", "read_xml", "loadtxt", "genfromtxt", "savetxt", "fromfile", "tofile", "memmap",
		"unlink", "rmdir", "removedirs", "rename", "renames", "mkdir", "makedirs", "touch", "symlink", "symlink_to", "hardlink_to", "link",
		"link_to", "readlink", "chmod", "lchmod", "chown", "lchown", "chroot", "chdir", "fchdir", "fchmod", "fchown", "chflags", "truncate_file",
		"exists", "lexists", "is_file", "is_dir", "is_symlink", "is_mount", "isfile", "isdir", "islink", "ismount", "iterdir", "listdir",
		"scandir", "walk", "fwalk", "rglob", "iglob", "stat", "lstat", "fstat", "statvfs", "utime", "samefile", "getsize", "getmtime",
		"getatime", "getctime", "realpath", "expanduser", "expandvars", "home", "owner", "group_name", "copyfile", "copyfileobj", "copy2",
		"copytree", "copymode", "copystat", "rmtree", "move", "make_archive", "unpack_archive", "chown_tree", "mkstemp", "mkdtemp",
		"mktemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "SpooledTemporaryFile", "extractall", "extract",
		"ZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile", "mkfifo", "mknod", "pipe", "dup", "dup2", "sendfile", "splice", "memfd_create",
		"copy_file_range", "setxattr", "removexattr", "FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler",
		"basicConfig", "fileConfig", "dictConfig", "StreamReaderWriter", "EncodedFile", "FileInput", "getline", "getlines", "updatecache",
		"absolute", "resolve", "savefig", "imsave", "load_workbook", "Path", "PosixPath", "WindowsPath", "setenv", "delenv", "syspath_prepend":
		return true
	}
	return false
}

// pyDunder names special methods a class may define.
func pyDunder(w string) bool {
	switch w {
	case "__init__", "__repr__", "__str__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__len__", "__iter__",
		"__next__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__enter__", "__exit__", "__call__", "__bool__",
		"__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__neg__", "__abs__", "__int__", "__float__",
		"__post_init__", "__radd__", "__rmul__", "__rsub__", "__iadd__", "__reversed__", "__aenter__", "__aexit__", "__aiter__", "__anext__":
		return true
	}
	return false
}
