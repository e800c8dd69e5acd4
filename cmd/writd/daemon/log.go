package daemon

import (
	"github.com/writbus/writ/enforcement"
)

// source names this daemon as the recorder of events.
const source = "/writ/daemon"

// atTerminal is who acts with the admin credential where no channel is named.
var atTerminal = enforcement.Person(enforcement.ChannelTerminal)
