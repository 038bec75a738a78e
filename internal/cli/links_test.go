package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"dlock/audit"
)

var (
	heading = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	link    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	code    = regexp.MustCompile("`[^`\n]*`")
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	row     = regexp.MustCompile(`(?m)^\| (.*?) \|`)
)

// Whoever follows a link from one page to another arrives: every file is there, and every heading.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	pages := documents(t, root)
	err := filepath.WalkDir(filepath.Join(root, "scenarios"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			name, relErr := filepath.Rel(root, path)
			pages, err = append(pages, name), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	followed := 0
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(prose(t, filepath.Join(root, page)), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			followed++
			file, anchor, has := strings.Cut(m[1], "#")
			target := filepath.Join(root, filepath.Dir(page), file)
			if file == "" {
				target = filepath.Join(root, page)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", page, m[1], err)
				continue
			}
			if has && !slices.Contains(anchors(prose(t, target)), anchor) {
				t.Errorf("%s: %s: there is no such heading", page, m[1])
			}
		}
	}
	if followed < 20 {
		t.Errorf("%d links found", followed)
	}
}

// prose is a page without its fenced blocks.
func prose(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(strings.ReplaceAll(string(text), "\r\n", "\n"), "")
}

// anchors lists what a link can point at, as GitHub names headings.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return all
}

// firstColumn gives the words in backquotes of the first column of the tables below a heading.
func firstColumn(t *testing.T, page, title string) []string {
	t.Helper()
	_, text, found := strings.Cut("\n"+prose(t, filepath.Join("..", "..", page)), "\n"+title+"\n")
	if !found {
		t.Fatalf("%s has no %q", page, title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var words []string
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		for _, c := range code.FindAllString(m[1], -1) {
			word, _, _ := strings.Cut(strings.Trim(c, "`"), " ")
			words = append(words, word)
		}
	}
	return words
}

func TestDocumentsNameEveryLaw(t *testing.T) {
	var want []string
	for l := range audit.NumLaws {
		want = append(want, l.String())
	}
	if got := firstColumn(t, "README.md", "## Laws"); !slices.Equal(got, want) {
		t.Errorf("README.md names the laws %q, want %q", got, want)
	}
	if got := firstColumn(t, filepath.Join("docs", "laws.md"), "# The laws"); !slices.Equal(got, want) {
		t.Errorf("docs/laws.md names the laws %q, want %q", got, want)
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	got := firstColumn(t, "README.md", "## Commands")
	slices.Sort(got)
	var want []string
	for _, c := range newApp(Streams{}).root().Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			want = append(want, c.Name())
		}
	}
	want = append(want, "completion") // cobra's own, which it adds when it runs
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("README.md names the commands %q, want %q", got, want)
	}
}
