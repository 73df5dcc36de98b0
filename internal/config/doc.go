// Package config says where things are and what is set: the workspace and its files, the user's folder, the settings
// merged from both with the source of each value, and the user's keys.
//
// A workspace file counts only when a person has trusted the workspace, and even then it may narrow what the user
// allows, never widen it. Formats are documented in docs/formats/config.md.
package config
