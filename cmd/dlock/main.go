// Command dlock runs, judges and tests schedules of distributed locks. Everything it does is in internal/cli.
package main

import (
	"os"

	"dlock/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
}
