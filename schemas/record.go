package schemas

// Record is a message as it stands in the log.
type Record struct {
	Stream  Stream
	Seq     uint64 // stream sequence, from 1
	Message Message
}

// ID is the id of the record's main event, "" for a message without one.
func (r Record) ID() string { return r.Message.Header.Get(HeaderID) }

// Events decodes the record into its events, positions set. It returns what
// Decode returns.
func (r Record) Events() ([]Event, error) {
	events, err := Decode(r.Message)
	if err != nil {
		return nil, err
	}
	for i := range events {
		events[i].Position.Stream = r.Stream
		events[i].Position.Seq = r.Seq
	}
	return events, nil
}
