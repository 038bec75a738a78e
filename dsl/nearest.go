package dsl

// Nearest gives the candidate that a mistyped word was most likely meant to be, or "" if none is near. Diagnostics use
// it for the words of a script; the command line for its own.
func Nearest(word string, candidates []string) string { return nearest(word, candidates) }
