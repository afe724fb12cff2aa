package codescan

import "strings"

// pyMembers lists what may be used of a module, between blanks. The lists with
// files are for whole programs only; «mods» are modules in it.
func pyMembers(module string, files bool) (members, mods string) {
	if files {
		if members, mods = pyFileMembers(module); members != "" {
			return members, mods
		}
	}
	switch module {
	case "__future__":
		return " annotations ", ""
	case "abc":
		return " ABC abstractmethod ", ""
	case "ast":
		return " parse literal_eval dump unparse get_docstring walk iter_child_nodes iter_fields NodeVisitor NodeTransformer fix_missing_locations AST Add And AnnAssign Assert Assign AsyncFor AsyncFunctionDef AsyncWith Attribute AugAssign AugLoad AugStore Await BinOp BitAnd BitOr BitXor BoolOp Break Bytes Call ClassDef Compare Constant Continue Del Delete Dict DictComp Div Ellipsis Eq ExceptHandler Expr Expression ExtSlice FloorDiv For FormattedValue FunctionDef FunctionType GeneratorExp Global Gt GtE If IfExp Import ImportFrom In Index Interactive Invert Is IsNot JoinedStr LShift Lambda List ListComp Load Lt LtE MatMult Match MatchAs MatchClass MatchMapping MatchOr MatchSequence MatchSingleton MatchStar MatchValue Mod Module Mult Name NameConstant NamedExpr Nonlocal Not NotEq NotIn Num Or Param Pass Pow RShift Raise Return Set SetComp Slice Starred Store Str Sub Subscript Suite Try TryStar Tuple TypeIgnore UAdd USub UnaryOp While With Yield YieldFrom ", ""
	case "bisect":
		return " bisect bisect_left bisect_right insort insort_left insort_right ", ""
	case "calendar":
		return " monthrange isleap leapdays month_name month_abbr day_name day_abbr weekday timegm monthcalendar MONDAY SUNDAY Calendar ", ""
	case "collections":
		return " Counter defaultdict deque OrderedDict namedtuple ChainMap ", " abc "
	case "collections.abc":
		return pyTypes, ""
	case "contextlib":
		return " contextmanager suppress nullcontext closing ", ""
	case "copy":
		return " copy deepcopy ", ""
	case "csv":
		return " reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Error ", ""
	case "dataclasses":
		return " dataclass field fields asdict astuple replace is_dataclass ", ""
	case "datetime":
		return " datetime date time timedelta timezone UTC MINYEAR MAXYEAR ", ""
	case "decimal":
		return " Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP ROUND_FLOOR ROUND_CEILING InvalidOperation getcontext localcontext DivisionByZero Context ", ""
	case "difflib":
		return " unified_diff ndiff context_diff SequenceMatcher get_close_matches ", ""
	case "enum":
		return " Enum IntEnum StrEnum Flag IntFlag auto unique ", ""
	case "fnmatch":
		return " fnmatch fnmatchcase filter ", ""
	case "fractions":
		return " Fraction ", ""
	case "functools":
		return " reduce partial lru_cache cache wraps cmp_to_key total_ordering cached_property ", ""
	case "hashlib":
		return " md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256 sha3_512 ", ""
	case "heapq":
		return " heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge ", ""
	case "html":
		return " escape unescape ", ""
	}
	return pyMoreMembers(module)
}

const pyTypes = " Iterable Iterator Sequence Mapping MutableMapping MutableSequence Callable Hashable Set MutableSet Generator Collection Sized Container Awaitable Coroutine AsyncIterator AsyncIterable "

func pyMoreMembers(module string) (members, mods string) {
	switch module {
	case "itertools":
		return " chain combinations combinations_with_replacement permutations product count cycle repeat accumulate groupby islice zip_longest takewhile dropwhile filterfalse starmap tee pairwise compress batched ", ""
	case "json":
		return " loads dumps load dump JSONDecodeError JSONEncoder JSONDecoder ", ""
	case "configparser":
		return " ConfigParser RawConfigParser ", ""
	case "keyword":
		return " iskeyword kwlist ", ""
	case "logging":
		return " getLogger debug info warning error exception critical DEBUG INFO WARNING ERROR CRITICAL Logger NullHandler ", ""
	case "math", "cmath":
		return " ceil floor sqrt pi e tau inf nan isclose isnan isinf isfinite log log2 log10 log1p exp pow sin cos tan asin acos atan atan2 sinh cosh tanh hypot gcd lcm factorial comb perm fabs fsum prod trunc fmod modf degrees radians isqrt copysign dist expm1 frexp ldexp erf gamma phase polar rect ", ""
	case "numbers":
		return " Number Integral Real Complex Rational ", ""
	case "operator":
		return " itemgetter add sub mul truediv floordiv mod neg eq ne lt le gt ge and_ or_ xor not_ contains getitem ", ""
	case "pprint":
		return " pprint pformat pp ", ""
	case "pytest":
		return " raises mark approx param fixture skip fail warns xfail ", ""
	case "random":
		return " random randint choice choices sample shuffle uniform seed Random gauss randrange betavariate expovariate normalvariate triangular getrandbits ", ""
	case "re":
		return " compile search match fullmatch sub subn findall finditer split escape IGNORECASE I MULTILINE M DOTALL S VERBOSE X ASCII A error Pattern Match ", ""
	case "statistics":
		return " mean median mode stdev pstdev variance pvariance fmean quantiles harmonic_mean geometric_mean median_low median_high multimode ", ""
	case "string":
		return " ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable whitespace Template capwords ", ""
	case "struct":
		return " pack unpack calcsize unpack_from iter_unpack error ", ""
	case "textwrap":
		return " dedent indent wrap fill shorten ", ""
	case "time":
		return " time perf_counter monotonic process_time time_ns perf_counter_ns strftime strptime gmtime localtime mktime sleep ", ""
	case "typing", "typing_extensions":
		return pyTypes + "Any Optional Union List Dict Set FrozenSet Tuple Type TypeVar Generic Protocol Literal Final ClassVar NamedTuple TypedDict Iterable Callable NoReturn Self Annotated TYPE_CHECKING cast overload Never TypeAlias ParamSpec Required NotRequired SupportsFloat SupportsInt Text IO TextIO BinaryIO Deque DefaultDict Counter OrderedDict AnyStr runtime_checkable override assert_never ", ""
	case "unicodedata":
		return " normalize category name lookup combining east_asian_width ", ""
	case "unittest":
		return " TestCase main skip skipIf skipUnless expectedFailure ", ""
	case "warnings":
		return " warn ", ""
	}
	return "", ""
}

// pyFileMembers are modules that only whole programs may use, where it is seen
// what they use them for.
func pyFileMembers(module string) (members, mods string) {
	switch module {
	case "base64":
		return " b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode ", ""
	case "binascii":
		return " hexlify unhexlify crc32 ", ""
	case "zlib":
		return " compress decompress crc32 adler32 ", ""
	case "glob":
		return " glob iglob ", ""
	case "hmac":
		return " new compare_digest ", ""
	case "io":
		return " StringIO BytesIO ", ""
	case "os":
		return " remove unlink rmdir rename replace mkdir makedirs listdir walk stat getcwd sep linesep ", " path "
	case "os.path":
		return " join basename dirname splitext split normpath relpath abspath isabs sep commonprefix exists isfile isdir getsize getmtime islink realpath lexists ", ""
	case "pathlib":
		return " Path PurePath PurePosixPath ", ""
	case "secrets":
		return " token_hex token_urlsafe token_bytes choice randbelow ", ""
	case "shlex":
		return " split quote join ", ""
	case "shutil":
		return " copy copyfile copy2 move rmtree copytree ", ""
	case "sys":
		return " argv stdin stdout stderr exit maxsize version version_info byteorder getsizeof setrecursionlimit platform path executable getrecursionlimit ", ""
	case "tomllib":
		return " load loads TOMLDecodeError ", ""
	case "types":
		return " SimpleNamespace ", ""
	case "urllib":
		return " parse ", " parse "
	case "urllib.parse":
		return " quote unquote urlencode urlparse urlsplit urljoin parse_qs parse_qsl quote_plus unquote_plus urlunparse urlunsplit ", ""
	case "uuid":
		return " uuid4 uuid5 uuid3 UUID NAMESPACE_DNS NAMESPACE_URL ", ""
	}
	return "", ""
}

func listed(list, word string) bool {
	i := strings.Index(list, word)
	for i > 0 {
		if j := i + len(word); list[i-1] == ' ' && j < len(list) && list[j] == ' ' {
			return true
		}
		k := strings.Index(list[i+1:], word)
		if k < 0 {
			return false
		}
		i += 1 + k
	}
	return false
}

// pySink says what a function of a module does with the files its arguments
// name: one letter each, r, w, d; l lists a folder, t is a whole tree.
func pySink(dotted string) string {
	switch dotted {
	case "os.remove", "os.unlink", "os.rmdir":
		return "d"
	case "os.rename", "os.replace", "shutil.move":
		return "dw"
	case "os.mkdir", "os.makedirs":
		return "w"
	case "os.listdir", "os.stat", "os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.getsize", "os.path.getmtime", "os.path.islink",
		"os.path.lexists", "os.path.realpath", "glob.glob", "glob.iglob":
		return "r"
	case "os.walk":
		return "R"
	case "shutil.copy", "shutil.copyfile", "shutil.copy2":
		return "rw"
	case "shutil.rmtree":
		return "D"
	case "shutil.copytree":
		return "RW"
	}
	return ""
}

// pyPathSink says the same of methods of a path, the path itself first.
func pyPathSink(method string) string {
	switch method {
	case "read_text", "read_bytes", "exists", "is_file", "is_dir", "is_symlink", "stat", "iterdir", "resolve", "absolute":
		return "r"
	case "write_text", "write_bytes", "touch", "mkdir":
		return "w"
	case "unlink", "rmdir":
		return "d"
	case "rename":
		return "dw"
	case "glob", "rglob", "open":
		return "r" // read with their arguments
	}
	return ""
}
