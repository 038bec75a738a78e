package report

import "github.com/fatih/color"

// Codes of the 256-colour palette. Blue against orange-red is told apart by nearly everybody, and these two shades have a
// contrast of 3.8 to 5.5 on a white and on a black background, enough for bold words, and stay above 3.5 on the usual tinted
// ones.
const (
	blue      color.Attribute = 32
	orangeRed color.Attribute = 166
)

// tone says what a stretch of text means to its reader; a Palette turns it into colour, and nothing else depends on it.
type tone uint8

const (
	plain tone = iota
	good       // as it should be
	bad        // a broken law, a failed claim, harm to the data
	bold       // a heading
	dim        // beside the point
)

// Palette marks words with colour. The zero value and nil mark nothing.
type Palette struct {
	marks [dim + 1]*color.Color
}

// NewPalette returns a palette that colours, or one that leaves every text as it is. The environment is not asked:
// whoever calls has decided.
func NewPalette(colour bool) *Palette {
	p := new(Palette)
	p.marks[good] = color.New(38, 5, blue, color.Bold)
	p.marks[bad] = color.New(38, 5, orangeRed, color.Bold)
	p.marks[bold] = color.New(color.Bold)
	p.marks[dim] = color.New(color.Faint)
	for _, c := range p.marks {
		switch {
		case c == nil:
		case colour:
			c.EnableColor()
		default:
			c.DisableColor()
		}
	}
	return p
}

// paint marks a stretch of text that is ready to be shown: escaped, and without the blanks that pad it.
func (p *Palette) paint(t tone, s string) string {
	if p == nil || s == "" || p.marks[t] == nil {
		return s
	}
	return p.marks[t].Sprint(s)
}
