package bus_test

import (
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/test/integration"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name       string
		durability embedded.Durability
		inProcess  bool
		bulk       bool // read every backlog over a connection of its own
	}{
		{"power-loss/tcp", embedded.PowerLoss, false, false},
		{"power-loss/in-process", embedded.PowerLoss, true, false},
		{"interval/tcp", embedded.Interval, false, false},
		{"interval/in-process", embedded.Interval, true, false},
		{"bulk/tcp", embedded.Interval, false, true},
		{"bulk/in-process", embedded.Interval, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "power-loss/tcp" && c.name != "interval/in-process" && c.name != "bulk/tcp" {
				integration.Only(t, "the other way with the same durability")
			}
			if c.bulk {
				defer bus.SetBulkLeast(1)()
			} else {
				t.Parallel() // once those are done: most of the time disks are waited for
			}
			keepsPromises(t, func(t *testing.T) wholeLog {
				h := newHost(t, embedded.Options{Durability: c.durability})
				if c.inProcess {
					return connect(t, h.inProcess(embedded.RoleDaemon))
				}
				return connect(t, h.as(embedded.RoleDaemon))
			})
		})
	}
}
