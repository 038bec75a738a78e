package engine

// clock is a server's or client's own clock: true time plus an offset, or a frozen reading.
type clock struct {
	offset  Tick // while it runs
	stopped bool
	reading Tick // while it is stopped
}

func (c *clock) at(now Tick) Tick {
	if c.stopped {
		return c.reading
	}
	return now + c.offset
}

// finally is at, with Forever for the end of time.
func (c *clock) finally(at Tick) Tick {
	if at == Forever && !c.stopped {
		return Forever
	}
	return c.at(at)
}

// jump moves the reading; a stopped clock jumps and stays stopped.
func (c *clock) jump(by Tick) {
	if c.stopped {
		c.reading += by
		return
	}
	c.offset += by
}

func (c *clock) stop(now Tick) {
	c.reading = c.at(now)
	c.stopped = true
}

// reaches gives the true tick, now or later, at which the clock shows the reading or more; Forever if it never does.
func (c *clock) reaches(reading, now Tick) Tick {
	switch {
	case reading == Forever:
		return Forever
	case c.at(now) >= reading:
		return now
	case c.stopped:
		return Forever
	}
	return reading - c.offset
}

// plus adds ticks and keeps Forever.
func plus(t, d Tick) Tick {
	if t == Forever || d == Forever {
		return Forever
	}
	return t + d
}
