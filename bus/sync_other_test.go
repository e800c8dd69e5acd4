//go:build !linux

package bus_test

import (
	"errors"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
)

func TestPowerLossSyncs(t *testing.T) {
	t.Skip("refusing syncs to a process takes Linux; its run there covers the same code of the server")
}

func appendWithoutSync(*embedded.Server, *bus.Conn) error { return errors.New("only on Linux") }
