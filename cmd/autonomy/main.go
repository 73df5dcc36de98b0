// Command autonomy runs a team of agents on a board of plain JSON files.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/autonomy-team/autonomy/internal/cli"
	"github.com/autonomy-team/autonomy/internal/sandbox"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "__sandbox" { // the launcher of commands, started by the program itself
		os.Exit(sandbox.Main(context.Background()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	streams, err := cli.System()
	if err != nil {
		fmt.Fprintln(os.Stderr, "autonomy:", err)
		os.Exit(cli.ExitFailed)
	}
	os.Exit(cli.Main(ctx, os.Args[1:], streams))
}
