package dsl

// Limits on one file. Each is checked before anything of that size is built, so that any input ends in bounded time and
// memory; each is far beyond what a person writes.
const (
	MaxFileSize   = 1 << 20 // bytes: about 40,000 lines
	MaxStatements = 50_000  // lines that are neither blank nor only a comment
	MaxLineTokens = 4_096   // words, numbers and signs on one line; bounds the depth of every expression too
	MaxNesting    = 50      // blocks inside blocks; parentheses inside parentheses
	MaxBlocks     = 1_000   // run, sweep and explore blocks; each is checked against every let
	MaxNameLength = 64      // bytes: columns of a transcript stay readable
	MaxTextLength = 4_096   // bytes of one text, between its quotes
	MaxClients    = 1_000   // clients that act in one file
	MaxServers    = 1_000   // lock servers
)
