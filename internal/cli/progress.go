package cli

import (
	"fmt"
	"sync"
	"time"
)

const (
	// A command that is done sooner than this needs no progress.
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// progress shows on a terminal how far a long command has come; elsewhere it shows nothing.
type progress struct {
	mu    sync.Mutex
	out   *sink // nil: nowhere
	what  string
	next  time.Time
	shown bool
}

func (a *app) progress(what string) *progress {
	p := &progress{what: what, next: time.Now().Add(progressAfter)}
	if isTerminal(a.errFile) {
		p.out = a.err
	}
	return p
}

// at may be called from several goroutines.
func (p *progress) at(done, total int64) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	fmt.Fprintf(p.out, "\r%d of %d %s (%d %%)\x1b[K", done, total, p.what, int(100*float64(done)/float64(max(total, 1))))
}

// stop clears the line. It may be called twice.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}
