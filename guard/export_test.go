package guard

// Text is how a result is taken in.
var Text = text

// MaxLines bounds what a session remembers of its refusals.
const MaxLines = maxLines
