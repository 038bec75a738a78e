package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &sink{w: &out}, what: "cells", next: time.Now().Add(time.Hour)}
	p.at(1, 4)
	p.stop()
	if out.Len() > 0 {
		t.Errorf("a short command shows %q", &out)
	}
	p.next = time.Time{}
	p.at(1, 4)
	p.at(2, 4) // too soon after the first to be shown
	p.stop()
	p.stop()
	if want := "\r1 of 4 cells (25 %)\x1b[K\r\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", &out, want)
	}
	nowhere := newApp(Streams{Out: &out, Err: &out}).progress("cells")
	nowhere.next = time.Time{}
	nowhere.at(1, 4)
	nowhere.stop()
	if strings.Count(out.String(), "cells") > 1 {
		t.Errorf("what is no terminal gets a progress line: %q", &out)
	}
}
