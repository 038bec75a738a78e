package engine

// writer writes small numbers small: most states are a few dozen bytes.
type writer struct {
	b   []byte
	now Tick
}

func (w *writer) byte(b byte) { w.b = append(w.b, b) }

func (w *writer) flag(f bool) {
	if f {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) flags(fs ...bool) {
	var b byte
	for i, f := range fs {
		if f {
			b |= 1 << i
		}
	}
	w.b = append(w.b, b)
}

func (w *writer) num(n int64) {
	u := uint64(n<<1) ^ uint64(n>>63)
	for u >= 0x80 {
		w.b = append(w.b, byte(u)|0x80)
		u >>= 7
	}
	w.b = append(w.b, byte(u))
}

// tick writes a tick's distance from the present, shifted so that Forever has a number of its own.
func (w *writer) tick(t Tick) {
	if t == Forever {
		w.b = append(w.b, 1)
		return
	}
	d := int64(t - w.now)
	if d < 0 {
		d--
	}
	w.num(d)
}

func (w *writer) clock(c *clock) {
	if c.stopped {
		w.byte(1)
		w.tick(c.reading)
		return
	}
	if c.offset == 0 {
		w.byte(0)
		return
	}
	w.byte(2)
	w.num(int64(c.offset))
}

type reader struct {
	b   []byte
	now Tick
}

func (r *reader) byte() byte {
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) flag() bool { return r.byte() != 0 }

func (r *reader) num() int64 {
	var u uint64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) tick() Tick {
	d := r.num()
	switch {
	case d == -1:
		return Forever
	case d < 0:
		d++
	}
	return r.now + Tick(d)
}

func (r *reader) clock() clock {
	switch r.byte() {
	case 1:
		return clock{stopped: true, reading: r.tick()}
	case 2:
		return clock{offset: Tick(r.num())}
	}
	return clock{}
}
