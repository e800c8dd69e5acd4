package schemas

// Record is a message as it stands in the log.
type Record struct {
	Stream  Stream
	Seq     uint64 // stream sequence, from 1
	Message Message
}

// ID is the id of the record's main event, "" for a message without one.
func (r Record) ID() string { return r.Message.Attribute(HeaderID) }

// Events decodes the record into its events, positions set. It returns what
// Decode returns.
func (r Record) Events() ([]Event, error) { return r.AppendEvents(nil) }

// AppendEvents is Events into a list that is used again. After an error the
// list is as it was.
func (r Record) AppendEvents(to []Event) ([]Event, error) {
	events, err := AppendDecoded(to, r.Message)
	for i := len(to); i < len(events); i++ {
		events[i].Position.Stream = r.Stream
		events[i].Position.Seq = r.Seq
	}
	return events, err
}
