package terminal

import "github.com/autonomy-team/autonomy/agent/tool"

// New makes the tools that keep nothing: bash. Those for processes that stay come from OpenProcesses.
func New(c Config) ([]tool.Tool, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return []tool.Tool{&bash{c}}, nil
}
