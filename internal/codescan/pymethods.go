package codescan

// pyMethod names attributes of the objects that Python and the listed modules
// make, and of paths and open files, that only compute or use what was opened.
func pyMethod(w string) bool {
	switch w {
	case "Emax", "Emin", "Etiny", "Etop", "VERSION", "abs", "add", "adjusted", "anchor", "append", "appendleft", "arg", "args", "as_integer_ratio", "as_posix",
		"as_tuple", "astimezone", "attr", "betavariate", "bit_count", "bit_length", "block_size", "body", "braceidpattern", "buffer", "bytes", "bytes_le",
		"c_contiguous", "cache_clear", "cache_info", "canonical", "capitalize", "capitals", "casefold", "cast", "center", "choice", "choices", "clamp",
		"clear", "clear_flags", "clear_traps", "clock_seq", "clock_seq_hi_variant", "clock_seq_low", "close", "closed", "code", "col_offset", "colno",
		"combine", "compare", "compare_signal", "compare_total", "compare_total_mag", "conjugate", "contiguous", "copy", "copy_abs", "copy_decimal",
		"copy_negate", "copy_sign", "count", "create_decimal", "create_decimal_from_float", "ctime", "ctx", "date", "day", "days", "decode", "decorator_list",
		"default", "default_factory", "deleter", "delimiter", "denominator", "dialect", "difference", "difference_update", "digest", "digest_size", "discard",
		"divide", "divide_int", "divmod", "doc", "dst", "elements", "elts", "encode", "encoding", "end", "end_lineno", "endpos", "endswith", "errno",
		"errors", "exp", "expand", "expandtabs", "expovariate", "extend", "extendleft", "fdel", "fget", "fieldnames", "fields", "filename", "fileno",
		"finalbody", "find", "find_longest_match", "findall", "finditer", "firstweekday", "flags", "flush", "fma", "fold", "fragment", "from_bytes",
		"from_decimal", "from_float", "from_iterable", "fromhex", "fromisocalendar", "fromisoformat", "fromkeys", "fromordinal", "fromtimestamp", "fromutc",
		"fset", "fullmatch", "func", "gammavariate", "gauss", "get", "get_grouped_opcodes", "get_identifiers", "get_matching_blocks", "get_opcodes",
		"getbuffer", "getfirstweekday", "getrandbits", "getstate", "getter", "geturl", "getvalue", "group", "groupdict", "groupindex", "groups", "handlers",
		"hex", "hexdigest", "hostname", "hour", "id", "idpattern", "imag", "index", "indices", "insert", "int", "intersection", "intersection_update",
		"is_absolute", "is_canonical", "is_finite", "is_infinite", "is_integer", "is_nan", "is_normal", "is_qnan", "is_relative_to", "is_safe", "is_signed",
		"is_snan", "is_subnormal", "is_valid", "is_zero", "isalnum", "isalpha", "isascii", "isatty", "isdecimal", "isdigit", "isdisjoint", "isidentifier",
		"islower", "isnumeric", "isocalendar", "isoformat", "isoweekday", "isprintable", "isspace", "issubset", "issuperset", "istitle", "isupper",
		"item_separator", "items", "itemsize", "iter_unpack", "iterencode", "itermonthdates", "itermonthdays", "itermonthdays2", "itermonthdays3",
		"itermonthdays4", "iterweekdays", "join", "joinpath", "key_separator", "keys", "keywords", "lastgroup", "lastindex", "limit_denominator",
		"line_buffering", "line_num", "lineno", "ljust", "ln", "log10", "logb", "logical_and", "logical_invert", "logical_or", "logical_xor",
		"lognormvariate", "lower", "lstrip", "major", "maketrans", "match", "max", "max_mag", "maxlen", "micro", "microsecond", "microseconds", "min",
		"min_mag", "minor", "minus", "minute", "mode", "month", "monthdatescalendar", "monthdays2calendar", "monthdayscalendar", "most_common", "move_to_end",
		"msg", "multiply", "n", "name", "nb_frames", "nbytes", "ndim", "netloc", "new_child", "newlines", "next_minus", "next_plus", "next_toward", "node",
		"normalize", "normalvariate", "now", "number_class", "numerator", "obj", "object_hook", "orelse", "pack", "pack_into", "params", "parent", "parents",
		"paretovariate", "partition", "parts", "path", "pattern", "plus", "pop", "popitem", "popleft", "port", "pos", "power", "prec", "quantize", "query",
		"quick_ratio", "radix", "randbytes", "randint", "random", "randrange", "ratio", "raw_decode", "re", "read", "read1", "readable", "reader",
		"readinto1", "readline", "readlines", "readonly", "real", "real_quick_ratio", "regs", "relative_to", "release", "remainder", "remainder_near",
		"remove", "removeprefix", "removesuffix", "resolution", "returns", "reverse", "rfind", "rindex", "rjust", "rotate", "rounding", "rpartition",
		"rsplit", "rstrip", "safe_substitute", "same_quantum", "sample", "scaleb", "scanner", "scheme", "search", "second", "seconds", "seed", "seek",
		"seekable", "send", "set_seq1", "set_seq2", "set_seqs", "setdefault", "setfirstweekday", "setstate", "setter", "shape", "shift", "shuffle", "size",
		"sort", "span", "split", "splitlines", "sqrt", "st_mtime", "st_size", "start", "startswith", "stem", "step", "stop", "strerror", "strftime",
		"strides", "string", "strip", "strptime", "sub", "subn", "suboffsets", "substitute", "subtract", "suffix", "suffixes", "swapcase",
		"symmetric_difference", "symmetric_difference_update", "targets", "tell", "test", "throw", "time", "time_hi_version", "time_low", "time_mid",
		"timestamp", "timetuple", "timetz", "title", "to_bytes", "to_eng_string", "to_integral", "to_integral_exact", "to_integral_value", "to_sci_string",
		"tobytes", "today", "tolist", "toordinal", "toreadonly", "total", "total_seconds", "translate", "triangular", "truncate", "type", "tzinfo", "tzname",
		"uniform", "union", "unpack", "unpack_from", "update", "upper", "urn", "utc", "utcfromtimestamp", "utcnow", "utcoffset", "utctimetuple", "value",
		"values", "variant", "version", "vonmisesvariate", "weekday", "weibullvariate", "with_name", "with_stem", "with_suffix", "writable", "write",
		"writeheader", "writelines", "writerow", "writerows", "year", "yeardatescalendar", "yeardays2calendar", "yeardayscalendar", "zfill":
		return true
	}
	return false
}
