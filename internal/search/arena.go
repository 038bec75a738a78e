package search

// arena keeps many short lists without ever moving one: a search keeps millions, and would copy all of them at each growth.
type arena[T any] struct {
	blocks [][]T
	used   int // blocks, the last of which is being filled
	n      int // elements in all
}

// span is a list in an arena.
type span struct {
	block, at, n int32
}

// firstBlock and lastBlock are how many elements the blocks of an arena have at first and at most.
const (
	firstBlock = 1 << 14
	lastBlock  = 1 << 20
)

// put copies a list into the arena.
func (a *arena[T]) put(list []T) span {
	if a.used == 0 || cap(a.blocks[a.used-1])-len(a.blocks[a.used-1]) < len(list) {
		a.grow(len(list))
	}
	b := &a.blocks[a.used-1]
	s := span{int32(a.used - 1), int32(len(*b)), int32(len(list))}
	*b = append(*b, list...)
	a.n += len(list)
	return s
}

// grow goes on to a block that has room for n elements.
func (a *arena[T]) grow(n int) {
	for ; a.used < len(a.blocks); a.used++ {
		if cap(a.blocks[a.used]) >= n {
			a.used++
			return
		}
	}
	a.blocks = append(a.blocks, make([]T, 0, max(n, min(firstBlock<<len(a.blocks), lastBlock))))
	a.used++
}

func (a *arena[T]) get(s span) []T { return a.blocks[s.block][s.at : s.at+s.n : s.at+s.n] }

// reset forgets all lists and keeps the room.
func (a *arena[T]) reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.used, a.n = 0, 0
}
