package search

import (
	"math/big"
	"math/bits"
)

// count is a number of members below 2^256, its lowest word first: families are products of choices, and seven clients of the
// yardstick have more than 10^57.
type count [4]uint64

// small makes a count.
func small(n uint64) count { return count{n} }

// add also tells whether the sum fits.
func (c count) add(d count) (count, bool) {
	fits := c.grow(&d)
	return c, fits
}

// grow adds in place.
func (c *count) grow(d *count) (fits bool) {
	var carry uint64
	c[0], carry = bits.Add64(c[0], d[0], 0)
	c[1], carry = bits.Add64(c[1], d[1], carry)
	c[2], carry = bits.Add64(c[2], d[2], carry)
	c[3], carry = bits.Add64(c[3], d[3], carry)
	return carry == 0
}

// times also tells whether the product fits. Most factors are small.
func (c count) times(d count) (count, bool) {
	if c.isSmall() {
		c, d = d, c
	}
	if d.isSmall() {
		if d[0] == 1 {
			return c, true
		}
		return c.timesWord(d[0])
	}
	sum, fits := count{}, true
	for i, w := range d {
		if w == 0 {
			continue
		}
		row, ok := c.timesWord(w)
		for range i {
			ok = ok && row[3] == 0
			row = count{0, row[0], row[1], row[2]}
		}
		fits = fits && ok
		if sum, ok = sum.add(row); !ok {
			fits = false
		}
	}
	return sum, fits
}

func (c count) timesWord(w uint64) (count, bool) {
	carry := uint64(0)
	for i := range c {
		hi, lo := bits.Mul64(c[i], w)
		var more uint64
		c[i], more = bits.Add64(lo, carry, 0)
		carry = hi + more // hi is at most 2^64 - 2
	}
	return c, carry == 0
}

func (c count) isSmall() bool { return c[1]|c[2]|c[3] == 0 }

func (c count) big() *big.Int {
	b := new(big.Int)
	for i := len(c) - 1; i >= 0; i-- {
		b.Lsh(b, 64)
		b.Or(b, new(big.Int).SetUint64(c[i]))
	}
	return b
}
