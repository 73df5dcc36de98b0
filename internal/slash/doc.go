// Package slash renders the team and the board for people, and understands the slash commands of the line faces. It
// speaks to the control API and reads the board; it executes nothing.
package slash
