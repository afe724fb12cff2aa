package guard

// Text returns a result in the form in which it is recorded.
var Text = text

// MaxLines bounds the refusals that a session remembers.
const MaxLines = maxLines
