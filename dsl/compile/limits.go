package compile

import "dlock/engine"

// The limits of values. Like those of a file, they are checked before anything of their size is allocated.
const (
	// MaxTick bounds every time and duration of a schedule, so that sums of a few of them cannot overflow an int64.
	MaxTick engine.Tick = 1_000_000_000
	// MaxFirings bounds how often the "every" lines of one run fire in all; the engine does no more than that in a run.
	MaxFirings = engine.MaxWork
	// MaxCells bounds the cells of all sweeps of a file: at a few microseconds a cell they take about a minute.
	MaxCells = 10_000_000
	// MaxAxisValues bounds one axis, whose values are all kept.
	MaxAxisValues = 1_000_000
	// MaxLines bounds the lines of all runs and sweeps together. Each has the top level's lines and its own, so many blocks
	// under a long top level are more than their file.
	MaxLines = 200_000
	// MaxCellWork bounds the lines and operations that the cells of a file are computed from, cell by cell: some seconds.
	MaxCellWork = 4_000_000_000
	// HorizonSlack is how long after the last scheduled tick retries and watchdogs go on by default.
	HorizonSlack engine.Tick = 200
)
