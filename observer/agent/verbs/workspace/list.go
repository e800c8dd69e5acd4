package workspace

import (
	"context"
	"fmt"
	"strings"

	"github.com/writbus/writ/observer/agent/verbs"
)

// list is /list.
func (w *handlers) list(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	if strings.TrimSpace(c.Args) != "" {
		return verbs.Err("/list takes no argument", "write /list alone"), nil
	}
	if w.Artifacts == nil {
		return verbs.OK("no artifacts"), nil
	}
	all, err := w.Artifacts.Artifacts(ctx, c.Run)
	if err != nil {
		return verbs.Result{}, err
	}
	if len(all) == 0 {
		return verbs.OK("no artifacts yet; /write --persist keeps one"), nil
	}
	var out strings.Builder
	for _, a := range all {
		fmt.Fprintf(&out, "#%s %s (%s, %d bytes)\n", a.ID, a.Name, a.MIME, a.Size)
	}
	return verbs.Content(verbs.TrustFile, out.String()), nil
}
