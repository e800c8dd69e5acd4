package bus_test

import (
	"testing"

	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name       string
		durability embedded.Durability
		inProcess  bool
	}{
		{"power-loss/tcp", embedded.PowerLoss, false},
		{"power-loss/in-process", embedded.PowerLoss, true},
		{"interval/tcp", embedded.Interval, false},
		{"interval/in-process", embedded.Interval, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bustest.Run(t, func(t *testing.T) bustest.Log {
				h := newHost(t, embedded.Options{Durability: c.durability})
				if c.inProcess {
					return connect(t, h.inProcess(embedded.RoleDaemon))
				}
				return connect(t, h.as(embedded.RoleDaemon))
			})
		})
	}
}
