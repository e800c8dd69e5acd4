package lifecycle

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
)

// Version is the version of this build, which the daemon of the same build
// shares.
var Version = config.Version

type versionReply struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`           // of client and daemon
	Format   int    `json:"format"`             // of the data folders that it writes
	Revision string `json:"revision,omitempty"` // of the source, where the build knows it
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: `  writ version --json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionReply{Version: Version, Protocol: config.Protocol, Format: config.Format(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					switch s.Key {
					case "vcs.revision":
						v.Revision = s.Value
					case "vcs.modified":
						v.Modified = s.Value == "true"
					}
				}
			}
			return a.Print(v, func() {
				a.Printf("writ %s (protocol %d, data format %d, %s, %s)\n", v.Version, v.Protocol, v.Format, v.Go, v.Platform)
			})
		},
	}
}
