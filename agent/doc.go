// Package agent works one goal through five-step turns to a termination: select skills, propose paths, rank them,
// execute the best admissible one, evaluate what happened. Every step is one function and leaves its event, and what a
// step decides depends on nothing but what is recorded, so a run can be replayed.
//
// The package knows no board, mailbox, gateway or vendor. It states its needs as small interfaces (Proposer, Executor,
// Evaluator, Recorder, …) that the composition root fills.
package agent
