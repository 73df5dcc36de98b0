package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/autonomy-team/autonomy/internal/control"
)

func newVersionCmd(s *Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: "look",
		Args:    words(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return s.json(map[string]string{
					"version": control.Version(), "protocol": control.Protocol, "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			s.print("autonomy %s (%s, %s/%s)", control.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
