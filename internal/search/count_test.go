package search

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestCountsAreThoseOfBigNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() count {
		var c count
		for i := range 1 + rng.IntN(4) {
			switch rng.IntN(3) {
			case 0:
				c[i] = rng.Uint64()
			case 1:
				c[i] = ^uint64(0)
			default:
				c[i] = rng.Uint64N(3)
			}
		}
		return c
	}
	fit, not := 0, 0
	for range 200_000 {
		c, d := random(), random()
		sum, ok := c.add(d)
		check(t, "+", c, d, sum, ok, new(big.Int).Add(c.big(), d.big()))
		product, ok := c.times(d)
		check(t, "*", c, d, product, ok, new(big.Int).Mul(c.big(), d.big()))
		if ok {
			fit++
		} else {
			not++
		}
	}
	if fit < 1000 || not < 1000 {
		t.Errorf("%d products fit, %d do not", fit, not)
	}
}

func check(t *testing.T, op string, c, d, got count, fits bool, want *big.Int) {
	t.Helper()
	if fits != (want.BitLen() <= 256) {
		t.Fatalf("%v %s %v fits: %t", c.big(), op, d.big(), fits)
	}
	if fits && got.big().Cmp(want) != 0 {
		t.Fatalf("%v %s %v = %v, want %v", c.big(), op, d.big(), got.big(), want)
	}
}
