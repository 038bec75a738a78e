package compile

import "dlock/engine"

// The limits of values. Like those of a file, they are checked before anything of their size is allocated.
const (
	// MaxTick bounds every time and duration of a schedule, so that sums of a few of them cannot overflow an int64.
	MaxTick engine.Tick = 1_000_000_000
	// MaxFirings bounds how often the "every" lines of one run fire in all. With the step that each does, that is half of
	// what a run may do, so that a file with so many still comes to its end.
	MaxFirings = engine.MaxWork / 2
	// MaxCells bounds the cells of all sweeps of a file, and the slices and values of its families with them: at a few
	// microseconds a cell they take about a minute.
	MaxCells = 10_000_000
	// MaxSlices bounds the slices of a family: each is a search of its own.
	MaxSlices = 1_000_000
	// MaxHoles bounds the holes of a family.
	MaxHoles = 256
	// MaxLate bounds the late holes of a family, of which the search keeps a word of bits; further ones are part of a slice.
	MaxLate = 64
	// MaxAxisValues bounds one axis or hole, whose values are all kept.
	MaxAxisValues = 1_000_000
	// MaxLines bounds the lines of all runs and sweeps together. Each has the top level's lines and its own, so many blocks
	// under a long top level are more than their file.
	MaxLines = 200_000
	// MaxCellWork bounds the lines and operations that the cells of a file are computed from, cell by cell: some seconds.
	MaxCellWork = 4_000_000_000
	// HorizonSlack is how long after the last scheduled tick retries and watchdogs go on by default.
	HorizonSlack engine.Tick = 200
)
