package app

import (
	"github.com/autonomy-team/autonomy/agent/tool"
)

// Toolsets lists every toolset: what is implemented, enabled and available, and why not.
func (a *App) Toolsets() ([]tool.Toolset, error) {
	tools, err := a.tools("")
	if err != nil {
		return nil, err
	}
	all, err := tool.New(tools...)
	if err != nil {
		return nil, err
	}
	return tool.Catalog(all, nil), nil
}
