package dsl

// plainLine gives a row as the formatter writes it, without indentation, alignment and comment.
func plainLine(r *row) string { return r.text }
