package provenance

// common reports whether a word in lower case is too usual to identify
// anything: a name made of such words is no name, and finding one in a source
// says nothing about where a value came from.
func common(word string) bool {
	switch word {
	case "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "away",
		"back", "be", "because", "been", "before", "being", "below", "best", "between", "both", "but", "by", "can",
		"cannot", "could", "did", "do", "does", "doing", "don't", "done", "down", "during", "each", "else", "ever",
		"every", "few", "first", "for", "from", "further", "get", "give", "go", "going", "good", "got", "had", "has",
		"have", "having", "he", "hello", "hence", "her", "here", "hers", "hey", "hi", "him", "his", "how", "i", "i'd",
		"i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it's", "its", "just", "last", "later", "latest",
		"least", "less", "let", "let's", "like", "many", "may", "maybe", "me", "might", "mine", "more", "most", "much",
		"must", "my", "need", "never", "new", "next", "no", "none", "not", "nothing", "now", "of", "off", "ok", "okay",
		"old", "on", "once", "one", "only", "or", "other", "others", "our", "ours", "out", "over", "own", "per", "please",
		"same", "see", "shall", "she", "should", "since", "so", "some", "soon", "still", "such", "than", "thank", "thanks",
		"that", "that's", "the", "their", "them", "then", "there", "these", "they", "thing", "things", "this", "those",
		"through", "to", "today", "tomorrow", "too", "under", "until", "up", "upon", "us", "very", "via", "want", "was",
		"we", "well", "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
		"will", "with", "within", "without", "would", "yes", "yesterday", "yet", "you", "your", "yours", "null", "true",
		"false", "http", "https", "www", "com":
		return true
	}
	return commonVerb(word) || commonNoun(word)
}

func commonVerb(word string) bool {
	switch word {
	case "add", "answer", "append", "apply", "ask", "attach", "book", "build", "buy", "call", "cancel", "change", "check",
		"clean", "clear", "click", "close", "come", "commit", "compare", "copy", "create", "delete", "deploy", "describe",
		"download", "draft", "edit", "email", "ensure", "execute", "explain", "fetch", "figure", "fill", "find", "finish",
		"fix", "follow", "forward", "help", "include", "inform", "insert", "install", "invite", "join", "keep", "know",
		"leave", "list", "load", "look", "mail", "make", "mark", "mention", "merge", "message", "move", "notify", "open",
		"order", "paste", "pay", "post", "print", "prepare", "pull", "push", "put", "read", "refactor", "remember",
		"remind", "remove", "rename", "replace", "reply", "report", "request", "reserve", "reset", "respond", "retrieve",
		"return", "review", "run", "save", "say", "schedule", "search", "select", "send", "set", "share", "show", "start",
		"stop", "submit", "summarise", "summarize", "take", "tell", "test", "transfer", "translate", "try", "turn",
		"update", "upload", "use", "using", "verify", "view", "visit", "wait", "watch", "write":
		return true
	}
	return false
}

func commonNoun(word string) bool {
	switch word {
	case "account", "address", "afternoon", "amount", "app", "bill", "calendar", "channel", "code", "content", "contact",
		"contacts", "data", "date", "day", "days", "document", "documents", "emails", "end", "error", "event", "events",
		"file", "files", "folder", "friend", "group", "home", "hour", "hours", "id", "image", "info", "information",
		"invoice", "issue", "issues", "item", "items", "link", "mails", "meeting", "meetings", "member", "members",
		"messages", "minute", "minutes", "money", "month", "morning", "name", "night", "note", "notes", "number", "page",
		"pages", "password", "payment", "people", "person", "phone", "place", "plan", "price", "problem", "project",
		"question", "recipient", "repo", "repository", "result", "results", "room", "server", "site", "subject", "system",
		"task", "tasks", "team", "text", "time", "title", "todo", "tool", "total", "transaction", "user", "users",
		"value", "version", "website", "week", "word", "words", "work", "year", "years",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
		"april", "june", "july", "august", "september", "october", "november", "december":
		return true
	}
	return false
}

// connects reports whether a word holds a name together, as in «Bank of
// America».
func connects(word string) bool {
	switch word {
	case "of", "de", "van", "von", "der", "den", "del", "la", "le", "di", "da", "du", "dos", "bin", "al", "zu":
		return true
	}
	return false
}

// isCurrency reports whether a word in lower case names money.
func isCurrency(word string) bool {
	switch word {
	case "usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "aud", "cad", "nzd", "sek", "nok", "dkk", "pln", "czk", "brl",
		"btc", "eth", "dollar", "dollars", "euro", "euros", "pound", "pounds", "cent", "cents", "franc", "francs", "yen",
		"buck", "bucks", "quid", "rupee", "rupees":
		return true
	}
	return false
}
