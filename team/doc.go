// Package team keeps a roster of teammates and lets them work a board.
//
// A Supervisor owns one goroutine per live teammate. Each goes round WORK (one attempt of the Worker) and IDLE (mail,
// own unfinished task, best ready task, in that order, at fixed ticks and at hints) until it shuts down; the supervisor
// revives it when there is work again. The phases and what leads from one to the next are in docs/states.md.
//
// The package reaches tasks, mail, transcripts, the roster and the log only through the interfaces it declares here, so
// its clockwork is tested with fakes in virtual time, and another store can take the place of the folders.
package team
