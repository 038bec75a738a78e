// Package report holds every word that dlock says to people: diagnostics, transcripts, tables, JSON. It decides nothing
// about the world: what happened comes from the engine's record, what it means from the audit, what was claimed from study.
package report

// Options says how wide the text may be, with which colours, and whether only the verdict is wanted.
type Options struct {
	Width   int // columns; 0 means DefaultWidth
	Palette *Palette
	Quiet   bool // only the verdict and the claims that do not hold
}
