// Package gateway is the only door to execution. An action comes in, is assessed (which risk, what effect, how it is
// verified), admitted (by policy, or by a person whom an Approver asks), and executed with an admission that fits this one
// action and is used up by it. What comes out is an observation, verified and redacted.
//
// Nothing in an action's arguments decides anything here: the level is computed from tool and arguments, a proposer can
// only raise it, and an approval exists only as the return value of an Approver.
package gateway
