package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dlock/dsl"
	"dlock/internal/golden"
)

// complete offers fixed words for a flag.
func complete(cmd *cobra.Command, flag string, words ...string) {
	register(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
}

// register cannot fail for a flag that the same function has just defined.
func register(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// completeFiles offers scripts and folders.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{golden.ScriptExt[1:]}, cobra.ShellCompDirectiveFilterFileExt
}

// completeSet offers "NAME=" for every let of the scripts on the line, then for every setting; after a setting's "=", its
// words.
func completeSet(cmd *cobra.Command, flag string) {
	register(cmd, flag, func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return assignments(args, word)
	})
}

// assignments completes NAME=VALUE, and the last one of several that commas divide: "fencing=off,on" as well as
// "fencing=on,servers=3".
func assignments(scripts []string, word string) ([]string, cobra.ShellCompDirective) {
	const alone = cobra.ShellCompDirectiveNoFileComp
	before, part := "", word
	if i := strings.LastIndexByte(word, ','); i >= 0 {
		before, part = word[:i+1], word[i+1:]
	}
	var words []string
	name, _, given := strings.Cut(part, "=")
	if !given {
		for _, n := range append(scriptWords(scripts, letNames), dsl.SettingNames()...) {
			words = append(words, before+n+"=")
		}
	}
	if !given && before != "" { // a further value of the name before it
		if i := strings.LastIndexByte(before, '='); i >= 0 {
			name = before[strings.LastIndexByte(before[:i], ',')+1 : i]
		}
	}
	for _, v := range dsl.SettingWords(name) {
		if v == "number" || v == "text" {
			continue
		}
		if given {
			v = name + "=" + v
		}
		words = append(words, before+v)
	}
	if given {
		return words, alone
	}
	return words, alone | cobra.ShellCompDirectiveNoSpace
}

// completeRuns offers the runs of the scripts on the line.
func completeRuns(cmd *cobra.Command) {
	register(cmd, "run", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return scriptWords(args, runNames), cobra.ShellCompDirectiveNoFileComp
	})
}

// scriptWords asks the scripts among the arguments for words; a script that cannot be read or has errors has none.
func scriptWords(args []string, words func(*dsl.Script) []string) []string {
	var all []string
	for _, name := range args {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > dsl.MaxFileSize {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if s, ds := dsl.Parse(name, text); s != nil && !ds.HasErrors() {
			all = append(all, words(s)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// letNames lists what --set can name besides the settings: lets, and lines that may be there.
func letNames(s *dsl.Script) []string {
	var names []string
	add := func(b *dsl.Body) {
		for _, l := range b.Lets {
			names = append(names, l.Name)
		}
		for _, st := range b.Steps {
			if st.Maybe != nil && st.Maybe.Name != "" {
				names = append(names, st.Maybe.Name)
			}
		}
	}
	add(&s.Body)
	for _, b := range s.Blocks {
		add(&b.Body)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// completeAxes offers "NAME=" for --over.
func completeAxes(cmd *cobra.Command) { completeSet(cmd, "over") }
