package dsl

import "strings"

// Nearest gives the candidate that a mistyped word was most likely meant to be, or "" if none is near. Ties go to the
// first candidate.
func Nearest(word string, candidates []string) string { return nearestOf(word, candidates) }

// nearestOf is Nearest over several lists.
func nearestOf(word string, lists ...[]string) string {
	if len(word) > MaxNameLength {
		return ""
	}
	best, limit := "", max(1, len(word)/3)
	for _, candidates := range lists {
		for _, c := range candidates {
			if c == word || len(c)-len(word) > limit || len(word)-len(c) > limit {
				continue
			}
			if d := distance(strings.ToLower(word), strings.ToLower(c)); d <= limit && d < len(word) {
				best, limit = c, d-1 // only a nearer one replaces it
			}
		}
	}
	return best
}

// didYouMean words a suggestion as a hint; with nothing near enough it gives the fallback.
func didYouMean(word string, candidates []string, fallback string) string {
	if n := Nearest(word, candidates); n != "" {
		return "did you mean `" + n + "`?"
	}
	return fallback
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between two words: swapped letters are
// the commonest slip and count as one.
func distance(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
