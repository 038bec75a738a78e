package search

import (
	"math/big"
	"math/bits"
)

// count is a number of members, up to 2^128: families are products of choices and soon pass 2^64.
type count struct{ hi, lo uint64 }

func (c count) add(d count) (count, bool) {
	lo, carry := bits.Add64(c.lo, d.lo, 0)
	hi, over := bits.Add64(c.hi, d.hi, carry)
	return count{hi, lo}, over == 0
}

func (c count) times(d count) (count, bool) {
	if c.hi != 0 && d.hi != 0 {
		return count{}, false
	}
	if c.hi != 0 {
		c, d = d, c
	}
	over, lo := bits.Mul64(c.lo, d.lo)
	high, hi := bits.Mul64(c.lo, d.hi)
	hi, carry := bits.Add64(hi, over, 0)
	return count{hi, lo}, high == 0 && carry == 0
}

func (c count) big() *big.Int {
	b := new(big.Int).SetUint64(c.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(c.lo))
}
